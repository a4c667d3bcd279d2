import { randomUUID } from 'node:crypto'
import type { LinkHolder } from '@wagate/db/queries/devices/pairing-links'
import type { Config } from '../config.ts'
import { isStillValid } from '../credentials/api-key-cache.ts'
import { authenticate, bodyBytesMax, type Reception } from '../credentials/authenticate.ts'
import { refuseQuery } from '../credentials/find-key.ts'
import { makeSessionCookie, refuseOtherOrigins } from '../credentials/session-cookie.ts'
import { AppError } from '../errors/app-error.ts'
import type { OpenExport } from '../export/export-stream.ts'
import { eventStreamType, type HttpAnswer, linesType } from '../http/http-answer.ts'
import { allowMethods } from '../http/methods.ts'
import { refuseOtherEncodings } from '../http/parse-form.ts'
import { withFileAsUrl } from '../http/parse-parts.ts'
import { pngType, prefersType } from '../http/prefers-type.ts'
import { discardRest, readBody } from '../http/read-body.ts'
import { receiveFile } from '../http/receive-file.ts'
import type { RequestContext } from '../http/request-context.ts'
import { charge } from '../limits/charge.ts'
import { collectParameters } from '../parameters/collect-parameters.ts'
import { listParameters } from '../parameters/list-parameters.ts'
import { warnOfUnknown } from '../parameters/unknown-parameters.ts'
import type { CallRequest, PublicCall } from './call.ts'
import type { ApiContext } from './context.ts'
import type { Answered, Operation } from './operation.ts'

type Gateway = { context: ApiContext; reception: Reception }

export async function answerOperation(
  gateway: Gateway,
  operation: Operation,
  request: RequestContext,
): Promise<HttpAnswer> {
  const { raw, responseHeaders } = request
  request.known.operation = operation.name
  const method = allowMethods(request, operation.accepts)
  if (method === 'options') return { status: 204 }
  if (operation.changes && method === 'GET') refusePrefetch(raw)
  if (operation.hasPng) responseHeaders.Vary = 'Accept'

  const warnings: string[] = []
  request.known.warnings = warnings
  const call = makeCall(gateway, operation, request, warnings)
  const { given, run, isAdmitted } = await admit(gateway.reception, operation, request, call)
  warnings.push(...warnOfUnknown(operation.parameters, given))
  const { fields, toPng, openStream, openExport } = await request.deadline.run(run)
  if (openExport) {
    const bytes = method === 'HEAD' ? '' : await begin(openExport, request, isAdmitted)
    return { status: 200, content: { type: linesType, bytes } }
  }
  if (openStream) {
    // Proxies such as nginx would hold events back.
    responseHeaders['X-Accel-Buffering'] = 'no'
    if (method === 'HEAD') return { status: 200, content: { type: eventStreamType, bytes: '' } }
    return { status: 200, stream: openStream({ hangUp: request.hangUp, isAdmitted }) }
  }
  if (toPng && prefersType(pngType, raw.headers.get('accept'))) {
    return { status: 200, content: { type: pngType, bytes: toPng() } }
  }
  return { status: 200, body: { ok: true, ...fields, ...(warnings.length > 0 && { warnings }) } }
}

function begin(
  openExport: OpenExport,
  { deadline, hangUp }: RequestContext,
  isAdmitted: Admitted['isAdmitted'],
): Promise<ReadableStream<Uint8Array>> {
  return deadline.run(async () => {
    const lines = await openExport({ isAdmitted, hangUp })
    if (deadline.isOver) await lines.cancel()
    return lines
  })
}

type Admitted = {
  given: Map<string, unknown>
  run(): Promise<Answered>
  /** For a stream: whether its caller may still read it. */
  isAdmitted(): Promise<boolean>
}

async function admit(
  reception: Reception,
  operation: Operation,
  request: RequestContext,
  call: PublicCall,
): Promise<Admitted> {
  if (operation.isPublic) {
    refuseOtherOrigins(request.raw.headers, call.cookie().origin())
    refuseQuery(request.url)
    const body = await readBody(request.raw, { bytesMax: bodyBytesMax })
    const given = collectParameters([], body, listParameters(operation.parameters))
    return { given, run: () => operation.run(given, call), isAdmitted: async () => true }
  }
  const { principal, key, body } = await authenticate(reception, operation, request, call.cookie).finally(
    () => {
      if (operation.takesFile) discardUnread(request)
    },
  )
  refuseOtherEncodings(request.url.search.slice(1))
  const parameters = operation.takesFileInForm ? await withFileAsUrl(body) : body
  const given = collectParameters(request.url.searchParams, parameters, listParameters(operation.parameters))
  if (principal.link) limitToDevice(given, operation, principal.link)
  return {
    given,
    run: () => operation.run(given, Object.assign(call, { principal })),
    isAdmitted: () => isStillValid(reception.keys, key),
  }
}

function makeCall(
  { context, reception }: Gateway,
  operation: Operation,
  request: RequestContext,
  warnings: string[],
): PublicCall {
  const { config } = context
  const { deadline, responseHeaders, known } = request
  return {
    operation: operation.name,
    context: operation.changes ? context : { ...context, db: context.readDb },
    cookie: () => makeSessionCookie(request, config),
    request: makeCallRequest(context, request),
    publicOrigin: () => config.http.publicUrl ?? originOf(request, config),
    makeIdempotencyKey() {
      known.madeIdempotencyKey = randomUUID()
      return known.madeIdempotencyKey
    },
    deadline,
    setHeader: (name, value) => {
      responseHeaders[name] = value
    },
    warn: (sentence) => void warnings.push(sentence),
    charge: (...charges) =>
      charge(
        charges.map(({ limit, ...rest }) => ({ limiter: reception.limits[limit], ...rest })),
        responseHeaders,
      ),
  }
}

function makeCallRequest({ media }: ApiContext, request: RequestContext): CallRequest {
  const { raw, deadline, findClientAddress, requestId, exchangeId } = request
  return {
    requestId,
    exchangeId,
    findClientAddress,
    findUserAgent: () => raw.headers.get('user-agent') ?? undefined,
    findDisconnect: () => raw.signal,
    idempotencyKeyHeader: raw.headers.get('idempotency-key') ?? undefined,
    lastEventIdHeader: raw.headers.get('last-event-id') ?? undefined,
    bodyBytes: announcedBytes(raw),
    receiveFile: (rules) => deadline.outside(() => receiveFile(raw, media.store, rules)),
  }
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

/** On the live network never what the caller has written into `Host`: people trust a link with their WhatsApp account. */
function originOf(request: RequestContext, { installation }: Config): string {
  if (installation.network === 'simulator') return request.findOrigin()
  throw new AppError(
    'public_url_missing',
    'This gateway makes no links: its operator has not set PUBLIC_URL.',
  )
}

/** A browser that prefetches a URL would send messages. */
function refusePrefetch({ headers }: Request): void {
  const purpose = `${headers.get('sec-purpose') ?? ''} ${headers.get('purpose') ?? ''}`
  if (/prefetch|prerender/i.test(purpose)) {
    throw new AppError('prefetch_refused', 'Prefetching is refused for operations that change state.')
  }
}

const reserved = ['sender', 'device_id', 'id', 'name', 'force']

/** Makes a request with a link session act on its device. Throws `credential_not_allowed`. */
function limitToDevice(
  given: Map<string, unknown>,
  { parameters }: Pick<Operation, 'parameters'>,
  { deviceId, sender }: Pick<LinkHolder, 'deviceId' | 'sender'>,
): void {
  const refused = reserved.find((name) => given.has(name))
  if (refused) {
    throw new AppError(
      'credential_not_allowed',
      `The session of a one-time link acts on its own sender. Leave out ${refused}.`,
    )
  }
  if ('device_id' in parameters.shape) given.set('device_id', deviceId)
  else if ('sender' in parameters.shape) given.set('sender', sender)
}
