import { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import type { RequestUrl } from '../http/request-context.ts'
import { isOfSession, isStreamToken } from './api-key.ts'

/** The key from the headers or the query, which is checked before the body is read. */
export function findKeyOutsideBody(
  request: Request,
  url: RequestUrl,
  { allowQuery, allowToken = false }: { allowQuery: boolean; allowToken?: boolean | undefined },
): string | undefined {
  const inQuery = url.searchParams.getAll('api_key')
  if (!allowQuery && inQuery.some((key) => key !== '')) {
    throw new AppError(
      'invalid_api_key',
      'API keys in the URL are disabled on this gateway. Use the header x-api-key.',
    )
  }
  const bearer = /^bearer +(.*)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  const tokens = allowToken ? url.searchParams.getAll('token').filter((token) => token !== '') : []
  if (!tokens.every(isStreamToken)) {
    throw new AppError('invalid_api_key', 'token must be a token from create-stream-token.')
  }
  return oneOf([request.headers.get('x-api-key'), bearer, ...inQuery, ...tokens])
}

/** Proxies write URLs to their logs. Throws `invalid_parameter`. */
export function refusePasswordInQuery(url: RequestUrl, { allowQuery }: { allowQuery: boolean }): void {
  if (allowQuery || !url.searchParams.has('password')) return
  throw invalidParameter('password', 'must not be in the URL: send it in the body of a POST')
}

/** Of an operation whose parameters are secrets. Throws `invalid_parameter`. */
export function refuseQuery({ searchParams }: RequestUrl): void {
  const [parameter] = searchParams.keys()
  if (parameter === undefined) return
  throw invalidParameter(parameter.slice(0, 100), 'must not be in the URL: send it in the body')
}

/** The key of a request whose body has been read. Throws `missing_api_key`. */
export function getKey(
  outsideBody: string | undefined,
  body: [name: string, value: unknown][],
  authorization: string | null,
): string {
  const inBody = body.filter(([name]) => name === 'api_key').map(([, value]) => value)
  const key = oneOf([outsideBody, ...inBody])
  if (key === undefined) {
    // Of these alone: what is not a scheme may be a key.
    const scheme = /^(basic|digest|token|apikey|jwt|negotiate)(?= )/i.exec(authorization ?? '')?.[0]
    const given = scheme === undefined ? '' : ` Authorization: ${scheme} is not supported.`
    throw new AppError(
      'missing_api_key',
      `An API key is required, in the header x-api-key, as Authorization: Bearer, or as the parameter api_key.${given}`,
    )
  }
  return key
}

/** Refuses two different keys, because preferring one might act on the wrong account. */
function oneOf(given: unknown[]): string | undefined {
  const keys = new Set(given.filter((key) => key !== undefined && key !== null && key !== '').map(textOf))
  if (keys.size > 1) {
    throw new AppError('conflicting_api_keys', 'The request contains two different API keys.')
  }
  const [key] = keys
  return key
}

/**
 * Only text can be a valid key, and converting a nested value to text could take long. The secret of a session counts in its cookie
 * alone.
 */
function textOf(key: unknown): string {
  return typeof key === 'string' && !isOfSession(key) ? key : 'not a key'
}
