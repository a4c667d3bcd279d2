import type { z } from 'zod'
import type { AdmissionRules } from '../credentials/admit-caller.ts'
import type { RequestErrorCode } from '../errors/request-errors.ts'
import type { OpenStream } from '../event-streams/event-streams.ts'
import type { OpenExport } from '../export/export-stream.ts'
import type { Method } from '../http/methods.ts'
import { makeParameterParser } from '../parameters/parse-parameters.ts'
import type { Call, PublicCall } from './call.ts'

type Definition<Parameters extends z.ZodRawShape, Fields extends z.ZodRawShape> = AdmissionRules & {
  /** The path of its URL. */
  name: string
  summary: string
  methods: ('GET' | 'POST')[]
  bodyBytesMax?: number
  /** The body is a file, which the handler receives. Parameters are in the query, and the API key is outside of the body. */
  takesFile?: boolean
  /** A file in a form stands for `url`, as a data: URL. */
  takesFileInForm?: boolean
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

/** `toPng` is there if the operation has it, one of the others instead of all fields if it is a stream. */
export type Answered = {
  fields: Record<string, unknown>
  toPng?: () => Uint8Array<ArrayBuffer>
  openStream?: OpenStream
  openExport?: OpenExport
}

type Described = Omit<Definition<z.ZodRawShape, z.ZodRawShape>, 'handle' | 'toPng'> & {
  /** `methods`, and HEAD if it changes nothing. */
  accepts: Method[]
  hasPng: boolean
  /** The answer is a stream of events or of lines, and `fields` describe one. */
  isStream: boolean
  /** A stream of JSON objects, one a line. */
  hasLines?: true
}

/** Of a caller with an API key. */
export type KeyOperation = Described & {
  isPublic: false
  run(given: Map<string, unknown>, call: Call): Promise<Answered>
}

/** Of anybody. Its parameters are in the body alone, because they are secrets. */
export type PublicOperation = Described & {
  isPublic: true
  run(given: Map<string, unknown>, call: PublicCall): Promise<Answered>
}

export type Operation = KeyOperation | PublicOperation

export function defineOperation<Parameters extends z.ZodRawShape, Fields extends z.ZodRawShape>(
  definition: Definition<Parameters, Fields>,
): KeyOperation {
  const { handle, toPng, ...rest } = definition
  const parse = makeParameterParser(definition.parameters)
  return {
    ...rest,
    accepts: methodsOf(rest),
    hasPng: toPng !== undefined,
    isStream: false,
    isPublic: false,
    async run(given, call) {
      const fields = await handle(parse(given), call)
      return { fields, ...(toPng && { toPng: () => toPng(fields) }) }
    },
  }
}

type PublicDefinition<Parameters extends z.ZodRawShape, Fields extends z.ZodRawShape> = Omit<
  Definition<Parameters, Fields>,
  'methods' | 'adminOnly' | 'admits' | 'bodyBytesMax' | 'takesFile' | 'takesFileInForm' | 'toPng' | 'handle'
> & {
  handle(input: z.infer<z.ZodObject<Parameters>>, call: PublicCall): Promise<z.input<z.ZodObject<Fields>>>
}

export function definePublicOperation<Parameters extends z.ZodRawShape, Fields extends z.ZodRawShape>(
  definition: PublicDefinition<Parameters, Fields>,
): PublicOperation {
  const { handle, ...rest } = definition
  const parse = makeParameterParser(definition.parameters)
  return {
    ...rest,
    methods: ['POST'],
    accepts: ['POST'],
    hasPng: false,
    isStream: false,
    isPublic: true,
    async run(given, call) {
      return { fields: await handle(parse(given), call) }
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
): KeyOperation {
  const { prepare, ...rest } = definition
  const parse = makeParameterParser(definition.parameters)
  return {
    ...rest,
    methods: ['GET'],
    changes: false,
    accepts: ['GET', 'HEAD'],
    hasPng: false,
    isStream: true,
    isPublic: false,
    async run(given, call) {
      return { fields: {}, openStream: await prepare(parse(given), call) }
    },
  }
}

type LinesDefinition<Parameters extends z.ZodRawShape> = Omit<
  Definition<Parameters, z.ZodRawShape>,
  'changes' | 'toPng' | 'handle'
> & {
  /** Throws AppErrors about the request. The stream begins when the result is called. */
  prepare(input: z.infer<z.ZodObject<Parameters>>, call: Call): Promise<OpenExport>
}

export function defineLines<Parameters extends z.ZodRawShape>(
  definition: LinesDefinition<Parameters>,
): KeyOperation {
  const { prepare, ...rest } = definition
  const parse = makeParameterParser(definition.parameters)
  return {
    ...rest,
    changes: false,
    accepts: methodsOf({ ...rest, changes: false }),
    hasPng: false,
    isStream: true,
    hasLines: true,
    isPublic: false,
    async run(given, call) {
      return { fields: {}, openExport: await prepare(parse(given), call) }
    },
  }
}

function methodsOf({ methods, changes }: Pick<Operation, 'methods' | 'changes'>): Method[] {
  return methods.flatMap((method): Method[] => (method === 'GET' && !changes ? ['GET', 'HEAD'] : [method]))
}
