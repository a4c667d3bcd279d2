import { z } from 'zod'
import type { Operation } from '../calls/operation.ts'

export type JsonSchema = {
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  [keyword: string]: unknown
}

/** Parameters are JSON values, or the same values as text in a query or a form. */
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
      .describe('Remarks on the request, such as ignored parameters or a disconnected sender'),
  })
  return toJsonSchema(answer, 'output')
}

/** Derived from the schema that validates. Schemas with an id become `#/components/schemas/<id>`. */
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
 * Later versions may return new values, which would break clients generated from a closed `enum`.
 * https://opensource.zalando.com/restful-api-guidelines/#112
 */
function openEnum(schema: z.core.JSONSchema.BaseSchema): void {
  if (!schema.enum) return
  schema['x-extensible-enum'] = schema.enum
  delete schema.enum
}

function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  // Zod adds a pattern of up to 300 characters that says the same as the format.
  if (schema.format) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  // Later versions may return new fields.
  delete schema.additionalProperties
  delete schema.$schema
}

/** Moves the schemas with an id from where they are used to one place. */
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
