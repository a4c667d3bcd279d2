import type { z } from 'zod'
import type { Call } from './call.ts'
import type { Credential } from './credentials/principal.ts'
import type { RequestErrorCode } from './errors/request-errors.ts'
import type { OpenStream } from './event-streams/event-streams.ts'
import type { Method } from './http/methods.ts'
import { makeParameterParser } from './parameters/parse-parameters.ts'

type Definition<Parameters extends z.ZodRawShape, Fields extends z.ZodRawShape> = {
  /** The path of its URL. */
  name: string
  summary: string
  methods: ('GET' | 'POST')[]
  /** Operations that change state accept no HEAD, no prefetch and no expired account. */
  changes: boolean
  adminOnly?: boolean
  /** Only API keys unless told otherwise. */
  admits?: Credential[]
  bodyBytesMax?: number
  /** The body is a file, which the handler receives. Parameters are in the query, and the API key is outside of the body. */
  takesFile?: boolean
  parameters: z.ZodObject<Parameters>
  /** The fields of a successful response besides `ok` and `warnings`. */
  fields: z.ZodObject<Fields>
  /** Codes that the handler throws; those that follow from the rest of the definition are documented anyway. */
  errors?: RequestErrorCode[]
  /** The same answer as a PNG, for callers whose `Accept` prefers it. */
  toPng?(fields: z.input<z.ZodObject<Fields>>): Uint8Array<ArrayBuffer>
  /** For the documentation. */
  example: { given: z.input<z.ZodObject<Parameters>>; answer: z.input<z.ZodObject<Fields>> }
  handle(input: z.infer<z.ZodObject<Parameters>>, call: Call): Promise<z.input<z.ZodObject<Fields>>>
}

/** `toPng` is there if the operation has it, `openStream` instead of all fields if it is a stream. */
type Answered = {
  fields: Record<string, unknown>
  toPng?: () => Uint8Array<ArrayBuffer>
  openStream?: OpenStream
}

export type Operation = Omit<Definition<z.ZodRawShape, z.ZodRawShape>, 'handle' | 'toPng'> & {
  /** `methods`, and HEAD if it changes nothing. */
  accepts: Method[]
  run(given: Map<string, unknown>, call: Call): Promise<Answered>
  hasPng: boolean
  /** The answer is a stream of events, and `fields` describe one. */
  isStream: boolean
}

export function defineOperation<Parameters extends z.ZodRawShape, Fields extends z.ZodRawShape>(
  definition: Definition<Parameters, Fields>,
): Operation {
  const { handle, toPng, ...rest } = definition
  const parse = makeParameterParser(definition.parameters)
  return {
    ...rest,
    accepts: methodsOf(rest),
    hasPng: toPng !== undefined,
    isStream: false,
    async run(given, call) {
      const fields = await handle(parse(given), call)
      return { fields, ...(toPng && { toPng: () => toPng(fields) }) }
    },
  }
}

type StreamDefinition<Parameters extends z.ZodRawShape> = Omit<
  Definition<Parameters, z.ZodRawShape>,
  'methods' | 'changes' | 'toPng' | 'handle'
> & {
  /** Throws AppErrors about the request. The stream begins when the result is called. */
  prepare(input: z.infer<z.ZodObject<Parameters>>, call: Call): Promise<OpenStream>
}

export function defineStream<Parameters extends z.ZodRawShape>(
  definition: StreamDefinition<Parameters>,
): Operation {
  const { prepare, ...rest } = definition
  const parse = makeParameterParser(definition.parameters)
  return {
    ...rest,
    methods: ['GET'],
    changes: false,
    accepts: ['GET', 'HEAD'],
    hasPng: false,
    isStream: true,
    async run(given, call) {
      return { fields: {}, openStream: await prepare(parse(given), call) }
    },
  }
}

function methodsOf({ methods, changes }: Pick<Operation, 'methods' | 'changes'>): Method[] {
  return methods.flatMap((method): Method[] => (method === 'GET' && !changes ? ['GET', 'HEAD'] : [method]))
}
