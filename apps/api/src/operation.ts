import type { z } from 'zod'
import type { Call } from './call.ts'
import type { RequestErrorCode } from './errors/request-errors.ts'
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
  bodyBytesMax?: number
  parameters: z.ZodObject<Parameters>
  /** The fields of a successful response besides `ok` and `warnings`. */
  fields: z.ZodObject<Fields>
  /** Codes that the handler throws; those that follow from the rest of the definition are documented anyway. */
  errors?: RequestErrorCode[]
  /** For the documentation. */
  example: { given: z.input<z.ZodObject<Parameters>>; answer: z.input<z.ZodObject<Fields>> }
  handle(input: z.infer<z.ZodObject<Parameters>>, call: Call): Promise<z.input<z.ZodObject<Fields>>>
}

export type Operation = Omit<Definition<z.ZodRawShape, z.ZodRawShape>, 'handle'> & {
  /** `methods`, and HEAD if it changes nothing. */
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

function methodsOf({ methods, changes }: Pick<Operation, 'methods' | 'changes'>): Method[] {
  return methods.flatMap((method): Method[] => (method === 'GET' && !changes ? ['GET', 'HEAD'] : [method]))
}
