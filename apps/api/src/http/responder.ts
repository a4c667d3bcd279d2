import { setTimeout as delay } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import type { Logger } from '@wagate/runtime/logger'
import type { Context } from 'hono'
import type { Counter, Histogram } from 'prom-client'
import { failureBody, toAppError } from './failure-body.ts'
import { type HttpAnswer, toResponse } from './http-answer.ts'
import { makeRequestContext, type RequestContext } from './request-context.ts'

type Options = {
  trustedProxies: number
  log: Logger
  metrics: { requests: Counter<'operation' | 'status'>; requestSeconds: Histogram<'operation'> }
}

/** Delays 429 answers, so that a client that retries at once cannot slow down other clients. */
const refusalPauseMs = 100

/** As nginx records a request whose client closed the connection before it was complete. No answer has this status. */
const clientClosedRequest = 499

/** Runs a handler, always answers, adds the headers of every answer, and writes one log line per request. */
export function makeResponder({ trustedProxies, log, metrics }: Options) {
  let isProxyNoticed = trustedProxies > 0

  function warnOfUntrustedProxy(forwardedFor: unknown): void {
    if (isProxyNoticed || forwardedFor === undefined) return
    isProxyNoticed = true
    log.warn(
      'Ignoring X-Forwarded-For because TRUST_PROXY is 0: behind a proxy, all clients count as one. Set TRUST_PROXY to the number of proxies.',
    )
  }

  function answerFailure(
    error: unknown,
    { requestId, exchangeId, responseHeaders, known: { madeIdempotencyKey, warnings } }: RequestContext,
    isBrokenOff: boolean,
  ): HttpAnswer {
    if (isBrokenOff) {
      log.debug({ err: error, requestId, exchangeId }, 'Client broke off its request')
      return { status: clientClosedRequest }
    }
    const failure = toAppError(error)
    const { status, retryAfterSeconds } = failure
    if (status >= 500) log.error({ err: error, requestId, exchangeId }, 'Request failed')
    if (retryAfterSeconds !== undefined) responseHeaders['Retry-After'] = String(retryAfterSeconds)
    if (status === 401) responseHeaders['WWW-Authenticate'] = 'Bearer realm="wagate"'
    const noted = { warnings, ...(status >= 500 && { madeIdempotencyKey }) }
    return { status, body: failureBody(failure, requestId, noted) }
  }

  function record(request: RequestContext, { status }: HttpAnswer, durationMs: number): void {
    const { requestId, exchangeId, raw, url, known } = request
    const { principal, operation = 'none' } = known
    metrics.requests.inc({ operation, status })
    metrics.requestSeconds.observe({ operation }, durationMs / 1000)
    const level = status === clientClosedRequest ? 'debug' : 'info'
    log[level](
      {
        requestId,
        ...(exchangeId !== requestId && { exchangeId }),
        client: request.findClientAddress(),
        method: raw.method,
        // Never the query: it may contain the API key and the text of a message.
        path: withoutKeys(url.pathname).slice(0, 200),
        status,
        durationMs: Math.round(durationMs),
        accountId: principal?.accountId,
        keyId: principal?.keyId,
      },
      'Request completed',
    )
  }

  return async (
    c: Context<{ Bindings: HttpBindings }>,
    handle: (request: RequestContext) => Promise<HttpAnswer>,
  ): Promise<Response> => {
    const { incoming, outgoing } = c.env
    // Read it now: a closed socket no longer has a remote address.
    const { remoteAddress } = incoming.socket
    warnOfUntrustedProxy(incoming.headers?.['x-forwarded-for'])
    const startedAt = performance.now()
    const request = makeRequestContext(
      c.req.raw,
      { remoteAddress, trustedProxies, hangUp: () => void outgoing?.destroy() },
      () => answered,
    )
    // `destroyed` alone would include clients that leave while they wait for an answer.
    const isBrokenOff = () => incoming.destroyed && incoming.complete === false
    const answered = handle(request).catch((error: unknown) => answerFailure(error, request, isBrokenOff()))
    const answer = await answered
    request.deadline.end()
    if (answer.status === 429) await delay(refusalPauseMs)
    record(request, answer, performance.now() - startedAt)
    return toResponse(answer, request.responseHeaders)
  }
}

/** Some clients put the API key where a path belongs. */
function withoutKeys(path: string): string {
  return path.replaceAll(/wag_\w+/g, 'wag_[redacted]')
}
