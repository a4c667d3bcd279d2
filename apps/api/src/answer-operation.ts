import { randomUUID } from 'node:crypto'
import type { Config } from './config.ts'
import type { ApiContext } from './context.ts'
import { admitCaller } from './credentials/admit-caller.ts'
import { findKeyOutsideBody, getKey, refusePasswordInQuery } from './credentials/find-key.ts'
import { isStillValid } from './credentials/is-still-valid.ts'
import { limitToDevice } from './credentials/limit-to-device.ts'
import type { Principal } from './credentials/principal.ts'
import { AppError } from './errors/app-error.ts'
import { clientNetwork } from './http/client-address.ts'
import { eventStreamType, type HttpAnswer } from './http/http-answer.ts'
import type { BodySender } from './http/large-bodies.ts'
import { allowMethods, type Method } from './http/methods.ts'
import { pngType, prefersPng } from './http/prefers-png.ts'
import { discardRest, readBody } from './http/read-body.ts'
import { receiveFile } from './http/receive-file.ts'
import type { RequestContext } from './http/request-context.ts'
import { charge } from './limits/charge.ts'
import type { Operation } from './operation.ts'
import { collectParameters } from './parameters/collect-parameters.ts'
import { warnOfUnknown } from './parameters/parse-parameters.ts'

const bodyBytesMax = 64 * 1024

export async function answerOperation(
  context: ApiContext,
  operation: Operation,
  request: RequestContext,
): Promise<HttpAnswer> {
  const { config } = context
  const { raw, url, deadline, responseHeaders, findClientAddress, requestId, exchangeId } = request
  request.operation = operation.name
  const method = allowMethods(request, operation.accepts)
  if (method === 'options') return { status: 204 }
  if (operation.changes && method === 'GET') refusePrefetch(raw)
  if (operation.hasPng) responseHeaders.Vary = 'Accept'

  const { principal, key, body } = await authenticate(context, operation, request, method).finally(() => {
    if (operation.takesFile) discardUnread(request)
  })
  const given = collectParameters(url.searchParams, body)
  if (principal.link) limitToDevice(given, operation, principal.link)
  const warnings = warnOfUnknown(operation.parameters, given)
  const { fields, toPng, openStream } = await deadline.run(() =>
    operation.run(given, {
      operation: operation.name,
      context: operation.changes ? context : { ...context, db: context.readDb },
      principal,
      findClientAddress,
      requestId,
      exchangeId,
      publicOrigin: () => config.http.publicUrl ?? originOf(request, config),
      findDisconnect: () => raw.signal,
      lastEventIdHeader: raw.headers.get('last-event-id') ?? undefined,
      idempotencyKeyHeader: raw.headers.get('idempotency-key') ?? undefined,
      makeIdempotencyKey() {
        request.madeIdempotencyKey = randomUUID()
        return request.madeIdempotencyKey
      },
      deadline,
      bodyBytes: announcedBytes(raw),
      receiveFile: (rules) => deadline.outside(() => receiveFile(raw, context.mediaStore, rules)),
      setHeader: (name, value) => {
        responseHeaders[name] = value
      },
      warn: (sentence) => void warnings.push(sentence),
      charge: (...charges) =>
        charge(
          charges.map(({ limit, key }) => ({ limiter: context.limits[limit], key })),
          responseHeaders,
        ),
    }),
  )
  if (openStream) {
    // Proxies such as nginx would hold events back.
    responseHeaders['X-Accel-Buffering'] = 'no'
    if (method === 'HEAD') return { status: 200, content: { type: eventStreamType, bytes: '' } }
    const isAdmitted = () => isStillValid(context.keys, key)
    return { status: 200, stream: openStream({ hangUp: request.hangUp, isAdmitted }) }
  }
  if (toPng && prefersPng(raw.headers.get('accept'))) {
    return { status: 200, content: { type: pngType, bytes: toPng() } }
  }
  return { status: 200, body: { ok: true, ...fields, ...(warnings.length > 0 && { warnings }) } }
}

function announcedBytes({ headers }: Request): number | undefined {
  const announced = headers.get('content-length')
  return announced === null ? undefined : Number(announced)
}

/** A refused client reads its answer only after it has sent its body. */
function discardUnread({ raw, answered }: RequestContext): void {
  void answered().then(async () => {
    if (!raw.bodyUsed && raw.body) await discardRest(raw.body.getReader())
  })
}

/** With a key outside the body, the caller is admitted before the body is read, so that invalid keys cost no upload. */
async function authenticate(
  context: ApiContext,
  operation: Operation,
  request: RequestContext,
  method: Method,
): Promise<{ principal: Principal; key: string; body: [name: string, value: unknown][] }> {
  const { config, largeBodies } = context
  const allowQuery = config.http.allowsQueryApiKey
  const allowToken = operation.admits?.includes('stream-token')
  const outside = findKeyOutsideBody(request.raw, request.url, { allowQuery, allowToken })
  if (request.url.searchParams.has('api_key')) context.noteKeyInUrl()
  refusePasswordInQuery(request.url, { allowQuery })
  const early = outside === undefined ? undefined : await admitCaller(context, operation, request, outside)
  const admission = operation.bodyBytesMax
    ? largeBodies.admit(request, bodySenderOf(request, early))
    : undefined
  const bytesMax = operation.bodyBytesMax ?? bodyBytesMax
  const body =
    method === 'POST' && !operation.takesFile ? await readBody(request.raw, { bytesMax, admission }) : []
  const key = getKey(outside, body)
  return { principal: early ?? (await admitCaller(context, operation, request, key)), key, body }
}

/** On the live network never what the caller has written into `Host`: people trust a link with their WhatsApp account. */
function originOf(request: RequestContext, { installation }: Config): string {
  if (installation.network === 'simulator') return request.findOrigin()
  throw new AppError(
    'public_url_missing',
    'This gateway makes no links: its operator has not set PUBLIC_URL.',
  )
}

function bodySenderOf({ findClientAddress }: RequestContext, principal: Principal | undefined): BodySender {
  return principal
    ? { kind: 'account', key: String(principal.accountId) }
    : { kind: 'network', key: clientNetwork(findClientAddress()) }
}

/** A browser that prefetches a URL would send messages. */
function refusePrefetch({ headers }: Request): void {
  const purpose = `${headers.get('sec-purpose') ?? ''} ${headers.get('purpose') ?? ''}`
  if (/prefetch|prerender/i.test(purpose)) {
    throw new AppError('prefetch_refused', 'Prefetching is refused for operations that change state.')
  }
}
