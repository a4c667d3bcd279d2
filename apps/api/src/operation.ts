import type { KeyHolder } from '@wagate/db/queries/api-keys'
import type { z } from 'zod'
import type { ApiContext } from './context.ts'
import { findKeyOutsideBody, getKey, refusePasswordInQuery } from './credentials/find-key.ts'
import { getHolder } from './credentials/get-principal.ts'
import { refuseExpired } from './credentials/refuse-expired.ts'
import { AppError } from './errors/app-error.ts'
import type { RequestErrorCode } from './errors/request-errors.ts'
import { clientNetwork } from './http/client-address.ts'
import type { Deadline } from './http/deadline.ts'
import type { BodySender } from './http/large-bodies.ts'
import { allowMethods, type Method } from './http/methods.ts'
import { readBody } from './http/read-body.ts'
import type { Answer, Exchange } from './http/request-context.ts'
import { charge } from './limits/charge.ts'
import type { Limits } from './limits/limits.ts'
import { collectParameters } from './parameters/collect-parameters.ts'
import { makeParameterParser, warnOfUnknown } from './parameters/parse-parameters.ts'

/** What a handler may use beside its parameters. */
export type Call = {
  /** The name of the operation. */
  operation: string
  context: ApiContext
  account: KeyHolder
  findClientAddress(): string
  requestId: string
  exchangeId: string
  /** The header; the parameter of the same meaning is the operation's own. */
  idempotencyKeyHeader: string | undefined
  /** Over when the caller has been answered without this handler. Who waits for a phone or a person extends it. */
  deadline: Deadline
  setHeader(name: string, value: string): void
  /** Adds a sentence to the `warnings` of the answer. */
  warn(sentence: string): void
  /** Counts against limits of the operation's own. Throws `rate_limited`. */
  charge(...charges: { limit: keyof Limits; key: string }[]): Promise<void>
}

type Definition<Parameters extends z.ZodRawShape, Fields extends z.ZodRawShape> = {
  /** The URL. */
  name: string
  summary: string
  methods: ('GET' | 'POST')[]
  /** Changes something: no HEAD, no prefetch, no expired account. */
  changes: boolean
  adminOnly?: boolean
  bodyBytesMax?: number
  parameters: z.ZodObject<Parameters>
  /** The fields of the success answer beside `ok` and `warnings`. */
  fields: z.ZodObject<Fields>
  /** What its handler refuses with; the codes that follow from the rest of the row are documented anyway. */
  errors?: RequestErrorCode[]
  /** For the documentation. */
  example: { given: z.input<z.ZodObject<Parameters>>; answer: z.input<z.ZodObject<Fields>> }
  handle(input: z.infer<z.ZodObject<Parameters>>, call: Call): Promise<z.input<z.ZodObject<Fields>>>
}

export type Operation = Omit<Definition<z.ZodRawShape, z.ZodRawShape>, 'handle'> & {
  /** `methods`, and HEAD where nothing changes. */
  accepts: Method[]
  run(given: Map<string, unknown>, call: Call): Promise<Record<string, unknown>>
}

export function defineOperation<Parameters extends z.ZodRawShape, Fields extends z.ZodRawShape>(
  definition: Definition<Parameters, Fields>,
): Operation {
  const { handle, ...rest } = definition
  const parse = makeParameterParser(definition.parameters)
  return { ...rest, accepts: methodsOf(rest), run: (given, call) => handle(parse(given), call) }
}

const bodyBytesMax = 64 * 1024

export async function answerOperation(
  context: ApiContext,
  operation: Operation,
  exchange: Exchange,
): Promise<Answer> {
  const { deadline, headers, findClientAddress } = exchange
  exchange.operation = operation.name
  const method = allowMethods(exchange, operation.accepts)
  if (method === 'options') return { status: 204 }
  if (operation.changes && method === 'GET') refusePrefetch(exchange.request)

  const { account, body } = await authenticate(context, operation, exchange, method)
  const given = collectParameters(exchange.url.searchParams, body)
  const warnings = warnOfUnknown(operation.parameters, given)
  const fields = await deadline.run(() =>
    operation.run(given, {
      operation: operation.name,
      context: operation.changes ? context : { ...context, db: context.readDb },
      account,
      findClientAddress,
      requestId: exchange.requestId,
      exchangeId: exchange.exchangeId,
      idempotencyKeyHeader: exchange.request.headers.get('idempotency-key') ?? undefined,
      deadline,
      setHeader: (name, value) => {
        headers[name] = value
      },
      warn: (sentence) => void warnings.push(sentence),
      charge: (...charges) =>
        charge(
          charges.map(({ limit, key }) => ({ limiter: context.limits[limit], key })),
          headers,
        ),
    }),
  )
  return { status: 200, body: { ok: true, ...fields, ...(warnings.length > 0 && { warnings }) } }
}

/** With a key outside the body, the caller is admitted before the body is read: others' uploads are not worth taking. */
async function authenticate(
  context: ApiContext,
  operation: Operation,
  exchange: Exchange,
  method: Method,
): Promise<{ account: KeyHolder; body: [name: string, value: unknown][] }> {
  const { config, largeBodies } = context
  const { request, url } = exchange
  const allowQuery = config.ALLOW_QUERY_API_KEY
  const outside = findKeyOutsideBody(request, url, { allowQuery })
  refusePasswordInQuery(url, { allowQuery })
  const early = outside === undefined ? undefined : await admitCaller(context, operation, exchange, outside)
  const admission = operation.bodyBytesMax
    ? largeBodies.admit(exchange, senderOf(exchange, early))
    : undefined
  const bytesMax = operation.bodyBytesMax ?? bodyBytesMax
  const body = method === 'POST' ? await readBody(request, { bytesMax, admission }) : []
  const key = getKey(outside, body)
  return { account: early ?? (await admitCaller(context, operation, exchange, key)), body }
}

function senderOf({ findClientAddress }: Exchange, account: KeyHolder | undefined): BodySender {
  return account
    ? { kind: 'account', key: String(account.accountId) }
    : { kind: 'stranger', key: clientNetwork(findClientAddress()) }
}

/** Counts the request against the limits of its caller, who must be allowed to make it. */
async function admitCaller(
  context: ApiContext,
  operation: Operation,
  exchange: Exchange,
  key: string,
): Promise<KeyHolder> {
  const { deadline, headers } = exchange
  const { requests, accountRequests } = context.limits
  const account = await getHolder(context, exchange, key)
  exchange.account = account
  if (requests || accountRequests) {
    const charges = [
      { limiter: requests, key: String(account.keyId) },
      { limiter: accountRequests, key: String(account.accountId) },
    ]
    await deadline.run(() => charge(charges, headers))
  }
  if (operation.adminOnly && account.role !== 'ADMIN') {
    throw new AppError('admin_required', 'This needs the API key of an ADMIN.')
  }
  // An expired account still reads what is its own.
  if (operation.changes || operation.adminOnly) refuseExpired(account)
  return account
}

function methodsOf({ methods, changes }: Pick<Operation, 'methods' | 'changes'>): Method[] {
  return methods.flatMap((method): Method[] => (method === 'GET' && !changes ? ['GET', 'HEAD'] : [method]))
}

/** A browser that fetches ahead what nobody asked for would send messages. */
function refusePrefetch({ headers }: Request): void {
  const purpose = `${headers.get('sec-purpose') ?? ''} ${headers.get('purpose') ?? ''}`
  if (/prefetch|prerender/i.test(purpose)) {
    throw new AppError(
      'prefetch_refused',
      'This request changes something and is not answered ahead of time.',
    )
  }
}
