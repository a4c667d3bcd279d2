import { z } from 'zod'
import type { Operation } from '../operation.ts'

export type JsonSchema = {
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  [keyword: string]: unknown
}

/** What may be given: JSON values, or the same as text in a query or a form. */
export function parametersSchema({ parameters }: Pick<Operation, 'parameters'>): JsonSchema {
  return toJsonSchema(parameters, 'input')
}

export function answerSchema({ fields }: Pick<Operation, 'fields'>): JsonSchema {
  const answer = z.object({
    ok: z.literal(true),
    ...fields.shape,
    warnings: z
      .array(z.string())
      .optional()
      .describe('Remarks on the request, such as parameters that were ignored or a sender that is away'),
  })
  return toJsonSchema(answer, 'output')
}

/** Out of the very schema that validates. Schemas with an id become `#/components/schemas/<id>`. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      simplify(jsonSchema)
      if (io === 'output') openEnum(jsonSchema)
    },
  }) as JsonSchema
}

/**
 * Values may be added to the answers, and a closed `enum` would break generated clients then.
 * https://opensource.zalando.com/restful-api-guidelines/#112
 */
function openEnum(schema: z.core.JSONSchema.BaseSchema): void {
  if (!schema.enum) return
  schema['x-extensible-enum'] = schema.enum
  delete schema.enum
}

function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  // The pattern says in 300 characters what the format says in a word.
  if (schema.format) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  // Fields may be added to answers.
  delete schema.additionalProperties
  delete schema.$schema
}

/** Takes the schemas with an id out of the places where they are used. */
export function collectComponents<Document>(document: Document): {
  document: Document
  schemas: Record<string, JsonSchema>
} {
  const schemas: Record<string, JsonSchema> = {}
  const text = JSON.stringify(document, (name, value) => {
    if (name !== '$defs') return value
    Object.assign(schemas, value)
    return undefined
  })
  const lift = (json: string) => JSON.parse(json.replaceAll('"#/$defs/', '"#/components/schemas/'))
  return { document: lift(text), schemas: lift(JSON.stringify(schemas)) }
}
