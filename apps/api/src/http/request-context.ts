import { randomUUID } from 'node:crypto'
import { findClientAddress, findOrigin } from './client-address.ts'
import { Deadline } from './deadline.ts'

/** One request, with its account and credentials once they are known. */
export type RequestContext = {
  readonly raw: Request
  /** The client's `X-Request-Id` if it is valid, otherwise generated. */
  readonly requestId: string
  /** Always generated: two requests may carry the same `X-Request-Id`. */
  readonly exchangeId: string
  readonly url: RequestUrl
  readonly responseHeaders: Record<string, string>
  readonly deadline: Deadline
  findClientAddress(): string
  /** The scheme and host that the caller used, as far as trusted proxies tell. */
  findOrigin(): string
  /** What handling the request has found out so far. */
  readonly known: KnownOfRequest
  /** Resolves, never rejects, once the answer is known. */
  answered(): Promise<unknown>
  /** Closes the connection, whatever has been answered. */
  hangUp(): void
}

type KnownOfRequest = {
  /** Undefined until the API key is known to be valid. */
  principal?: { accountId: number; keyId: number }
  /** Undefined until the operation is known to exist. */
  operation?: string
  /** Made here for a caller without one. Named in the answer if its failure may leave something stored. */
  madeIdempotencyKey?: string
  /** Remarks on the request, whether it succeeds or fails. */
  warnings?: string[]
}

export type RequestUrl = Pick<URL, 'pathname' | 'search' | 'searchParams'>

type Connection = { remoteAddress: string | undefined; trustedProxies: number; hangUp(): void }

/** Below the 5 s in which every request is answered, to leave time for the network. */
const answerMsMax = 4500

const acceptedRequestId = /^[\w.-]{1,128}$/

export function makeRequestContext(
  raw: Request,
  { remoteAddress, trustedProxies, hangUp }: Connection,
  answered: () => Promise<unknown>,
): RequestContext {
  const clientRequestId = raw.headers.get('x-request-id') ?? ''
  const exchangeId = randomUUID()
  const requestId = acceptedRequestId.test(clientRequestId) ? clientRequestId : exchangeId
  return {
    raw,
    requestId,
    exchangeId,
    url: splitUrl(raw.url),
    responseHeaders: {
      'X-Request-Id': requestId,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    },
    deadline: new Deadline(answerMsMax),
    findClientAddress: () =>
      findClientAddress(remoteAddress, raw.headers.get('x-forwarded-for') ?? undefined, trustedProxies),
    findOrigin: () => findOrigin(raw, trustedProxies),
    known: {},
    answered,
    hangUp,
  }
}

/** The server has already parsed and normalized the URL; parsing it again costs more than the parts we read. */
function splitUrl(url: string): RequestUrl {
  const pathAt = url.indexOf('/', url.indexOf('://') + 3)
  const queryAt = url.indexOf('?', pathAt)
  if (queryAt === -1) return { pathname: url.slice(pathAt), search: '', searchParams: noParameters }
  const search = url.slice(queryAt)
  return { pathname: url.slice(pathAt, queryAt), search, searchParams: new URLSearchParams(search) }
}

const noParameters = new URLSearchParams()
