import { AppError } from '../errors/app-error.ts'
import type { RequestContext } from './request-context.ts'

export type Method = 'GET' | 'HEAD' | 'POST'

/** Throws `method_not_allowed`. An OPTIONS request is answered with 204 and the `Allow` header set here. */
export function allowMethods(
  { raw, responseHeaders }: RequestContext,
  methods: Method[],
): Method | 'options' {
  const method = methods.find((allowed) => allowed === raw.method)
  if (method) return method
  responseHeaders.Allow = [...methods, 'OPTIONS'].join(', ')
  if (raw.method === 'OPTIONS') return 'options'
  throw new AppError('method_not_allowed', `${raw.method} is not supported on this path.`)
}
