import { document } from '@wagate/test-kit/contract'
import type { JsonSchema } from '../src/openapi/json-schemas.ts'
import type { OpenApiParameter } from '../src/openapi/openapi-types.ts'

export type Described = {
  path: string
  methods: string[]
  parameters: DescribedParameter[]
}

type DescribedParameter = {
  name: string
  schema: JsonSchema
  example: unknown
  /** The example, or for parameters that identify something, a placeholder for what the account has. */
  right: unknown
  isRequired: boolean
  /** In the example of a whole request. */
  isInExample: boolean
}

/** A placeholder for a value of the account, such as `{{sender}}`: requests are generated before the account exists. */
export const own = (name: string) => `{{${name}}}`
/** Parameters for which every tenant has its own values. */
const ownParameters = [
  'sender',
  'number',
  'device_id',
  'id',
  'message_id',
  'before',
  'idempotency_key',
  'email',
  'password',
  'user_id',
  'key_id',
  'webhook_id',
  'media_id',
  'event_id',
]

/** What it takes is none of the messages that other operations take. */
const rightOf = (path: string, name: string, example: unknown) => {
  if (path === '/mark-read' && name === 'message_id') return own('received_message_id')
  return ownParameters.includes(name) ? own(name) : example
}

const streams = ['text/event-stream', 'application/x-ndjson']

/**
 * Streams do not end or have no JSON as a whole (events-stream.test.ts, export-account.test.ts), test-webhook waits for a target
 * (system-tests/webhooks.test.ts).
 */
const answering = Object.entries(document.paths).filter(
  ([path, { get }]) =>
    path !== '/test-webhook' && !streams.some((type) => get?.responses[200]?.content[type]),
)

/** Nothing happens to most accounts, so longer waits would take most of the time. */
const briefWait = { schema: { type: 'integer', minimum: 0, maximum: 1 }, example: 1, right: 1 }

/** The operations as described by the OpenAPI document alone, apart from the waits. */
export const described: Described[] = answering.map(([path, { get, post }]) => {
  const inQuery = ((get ?? post)?.parameters ?? []).filter(
    (parameter): parameter is OpenApiParameter => 'in' in parameter,
  )
  const body = post?.requestBody?.content['application/json']
  const examples = (body?.example ?? {}) as Record<string, unknown>
  const inBody = Object.entries(body?.schema.properties ?? {})
    .filter(([name]) => name !== 'api_key')
    .map(([name, schema]) => ({
      name,
      schema,
      example: examples[name],
      required: body?.schema.required?.includes(name) ?? false,
    }))
  return {
    path,
    methods: [...(get ? ['GET'] : []), ...(post ? ['POST'] : [])],
    parameters: (inBody.length > 0 ? inBody : inQuery).map(({ name, schema, example, required }) => ({
      name,
      schema,
      example,
      right: rightOf(path, name, example),
      isRequired: required,
      isInExample: required || name in examples,
      ...(name === 'wait' && briefWait),
    })),
  }
})
