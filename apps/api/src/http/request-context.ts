import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import { databaseFailure } from '@wagate/db/failures'
import type { Context } from 'hono'
import type { ApiContext } from '../context.ts'
import { AppError } from '../errors/app-error.ts'
import { findClientAddress } from './client-address.ts'
import { Deadline } from './deadline.ts'
import { failureBody } from './failure-body.ts'

/** One request, and what is learnt about it on the way to its answer. */
export type Exchange = {
  readonly request: Request
  /** As the answer names it: what the caller sent, if that is usable. */
  readonly requestId: string
  /** Never the caller's choice. */
  readonly exchangeId: string
  readonly url: RequestUrl
  readonly headers: Record<string, string>
  readonly deadline: Deadline
  findClientAddress(): string
  account: { accountId: number; keyId: number } | undefined
  /** What is asked for, once it is known to exist. */
  operation: string | undefined
  /** Resolves, never rejects, when the answer is known. */
  answered(): Promise<unknown>
}

export type RequestUrl = Pick<URL, 'pathname' | 'searchParams'>

/** `content` is for people's browsers; programs are answered with a JSON object. */
export type Answer = {
  status: number
  body?: Record<string, unknown>
  content?: { type: string; bytes: string | Uint8Array<ArrayBuffer> }
}

/** Every request is answered within 5 s; the rest is for the way. */
const answerMsMax = 4500

/**
 * Before a client is told that it asks too often: one that asks again at once would make the refusing itself what
 * others wait for.
 */
const refusalPauseMs = 100

const acceptedRequestId = /^[\w.-]{1,128}$/

/** Runs a handler and answers in JSON whatever happens, with the headers that every answer has, and logs one line. */
export function makeExchange({ config, log, metrics }: Pick<ApiContext, 'config' | 'log' | 'metrics'>) {
  let isProxyNoticed = config.TRUST_PROXY > 0
  return async (
    c: Context<{ Bindings: HttpBindings }>,
    handle: (exchange: Exchange) => Promise<Answer>,
  ): Promise<Response> => {
    const request = c.req.raw
    // Now: a connection that was closed knows it no longer.
    const connectedFrom = c.env.incoming.socket.remoteAddress
    if (!isProxyNoticed && c.env.incoming.headers?.['x-forwarded-for'] !== undefined) {
      isProxyNoticed = true
      log.warn(
        'X-Forwarded-For is ignored: TRUST_PROXY is 0. Behind a proxy all clients count as one. Set it to the number of proxies.',
      )
    }
    const startedAt = performance.now()
    const given = request.headers.get('x-request-id') ?? ''
    const exchangeId = randomUUID()
    const requestId = acceptedRequestId.test(given) ? given : exchangeId
    const url = splitUrl(request.url)
    const headers: Record<string, string> = {
      'X-Request-Id': requestId,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    }
    const exchange: Exchange = {
      request,
      requestId,
      exchangeId,
      url,
      headers,
      deadline: new Deadline(answerMsMax),
      findClientAddress: () =>
        findClientAddress(
          connectedFrom,
          request.headers.get('x-forwarded-for') ?? undefined,
          config.TRUST_PROXY,
        ),
      account: undefined,
      operation: undefined,
      answered: () => answered,
    }

    const answered = handle(exchange).catch((error: unknown): Answer => {
      const failure = toAppError(error)
      if (failure.status >= 500) log.error({ err: error, requestId, exchangeId }, 'A request failed')
      if (failure.retryAfterSeconds !== undefined) headers['Retry-After'] = String(failure.retryAfterSeconds)
      if (failure.status === 401) headers['WWW-Authenticate'] = 'Bearer realm="wagate"'
      return { status: failure.status, body: failureBody(failure, requestId) }
    })
    const answer = await answered
    exchange.deadline.end()
    if (answer.status === 429) await delay(refusalPauseMs)
    const tookMs = performance.now() - startedAt
    const { operation = 'none' } = exchange
    metrics.requests.inc({ operation, status: answer.status })
    metrics.requestSeconds.observe({ operation }, tookMs / 1000)

    log.info(
      {
        requestId,
        // Only where they differ: two requests may come with one id.
        ...(exchangeId !== requestId && { exchangeId }),
        client: exchange.findClientAddress(),
        method: request.method,
        // Never the query: it may carry the API key and the text of a message.
        path: withoutKeys(url.pathname).slice(0, 200),
        status: answer.status,
        durationMs: Math.round(tookMs),
        accountId: exchange.account?.accountId,
        keyId: exchange.account?.keyId,
      },
      'Request answered',
    )
    const content = answer.body ? jsonContent(answer.body) : answer.content
    if (content) headers['Content-Type'] = content.type
    return new Response(content?.bytes ?? null, { status: answer.status, headers })
  }
}

/** Parsed and normalized by the server already: parsing it again costs more than all that is read of it. */
function splitUrl(url: string): RequestUrl {
  const pathAt = url.indexOf('/', url.indexOf('://') + 3)
  const queryAt = url.indexOf('?', pathAt)
  return queryAt === -1
    ? { pathname: url.slice(pathAt), searchParams: noParameters }
    : { pathname: url.slice(pathAt, queryAt), searchParams: new URLSearchParams(url.slice(queryAt)) }
}

const noParameters = new URLSearchParams()

/** Some clients put a key where a path should be. */
function withoutKeys(path: string): string {
  return path.replaceAll(/wag_\w+/g, 'wag_[redacted]')
}

export const jsonType = 'application/json; charset=utf-8'

function jsonContent(body: Record<string, unknown>) {
  return { type: jsonType, bytes: JSON.stringify(body) }
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  switch (databaseFailure(error)) {
    case 'unavailable':
      return new AppError('unavailable', 'The gateway is not available at the moment. Try again.', {
        retryAfterSeconds: 1,
        cause: error,
      })
    case 'storage_full':
      return new AppError('storage_full', 'The gateway has no storage left.', {
        retryAfterSeconds: 60,
        cause: error,
      })
    default:
      return new AppError('internal_error', 'Internal error', { cause: error })
  }
}
