import { AppError } from '../errors/app-error.ts'
import type { Exchange } from './request-context.ts'

export type Method = 'GET' | 'HEAD' | 'POST'

/** Throws `method_not_allowed`. An OPTIONS request is answered with 204 and the header that this sets. */
export function allowMethods({ request, headers }: Exchange, methods: Method[]): Method | 'options' {
  const method = methods.find((allowed) => allowed === request.method)
  if (method) return method
  headers.Allow = [...methods, 'OPTIONS'].join(', ')
  if (request.method === 'OPTIONS') return 'options'
  throw new AppError('method_not_allowed', `This path does not take ${request.method}.`)
}
