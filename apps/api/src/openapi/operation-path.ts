import type { Operation } from '../calls/operation.ts'
import { linesType } from '../http/http-answer.ts'
import { pngType } from '../http/prefers-type.ts'
import { documentedErrors, takesIdempotencyKey } from './documented-errors.ts'
import { errorResponses, referToHeaders } from './error-responses.ts'
import type { RequestHeader, ResponseHeader } from './headers.ts'
import { answerSchema, type JsonSchema, parametersSchema } from './json-schemas.ts'
import type {
  OpenApiOperation,
  OpenApiParameter,
  OpenApiPath,
  OpenApiResponse,
  Reference,
} from './openapi-types.ts'
import { securitySchemes } from './security-schemes.ts'

const headersOfAll: ResponseHeader[] = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy']

export function operationPath(operation: Operation, tag: string): OpenApiPath {
  const schema = parametersSchema(operation)
  return {
    ...(operation.methods.includes('GET') && {
      get: {
        ...describe(operation, 'GET', tag),
        parameters: [...queryParameters(operation, schema), ...headerParameters(operation)],
      },
    }),
    ...(operation.methods.includes('POST') && {
      post: {
        ...describe(operation, 'POST', tag),
        parameters: [
          ...(operation.takesFile ? queryParameters(operation, schema) : []),
          ...headerParameters(operation),
        ],
        requestBody: operation.takesFile ? fileBody : bodyOf(operation, schema),
      },
    }),
  }
}

function describe(
  operation: Operation,
  method: 'GET' | 'POST',
  tag: string,
): Omit<OpenApiOperation, 'parameters'> {
  const { name, summary, methods } = operation
  const id = name.replaceAll(/[-/](.)/g, (_, letter: string) => letter.toUpperCase())
  return {
    operationId: method === 'GET' && methods.includes('POST') ? `${id}ByGet` : id,
    tags: [tag],
    summary,
    security: operation.isPublic ? [] : Object.keys(securitySchemes).map((scheme) => ({ [scheme]: [] })),
    responses: {
      200: success(operation),
      ...errorResponses(documentedErrors(operation, method), headersOfAll),
    },
  }
}

function queryParameters(
  { example }: Operation,
  { properties = {}, required = [] }: JsonSchema,
): OpenApiParameter[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
    ...(example.given[name] !== undefined && { example: example.given[name] }),
  }))
}

function headerParameters(operation: Operation): Reference[] {
  const names: RequestHeader[] = ['X-Request-Id']
  if (operation.isStream) names.push('Last-Event-ID')
  if (takesIdempotencyKey(operation)) names.push('Idempotency-Key')
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

const apiKey: JsonSchema = {
  type: 'string',
  description: 'API key, in place of a header or the query. OpenAPI has no security scheme for it',
  writeOnly: true,
}

function bodyOf(
  { example, isPublic, takesFileInForm }: Operation,
  parameters: JsonSchema,
): NonNullable<OpenApiOperation['requestBody']> {
  const schema = {
    ...parameters,
    properties: { ...parameters.properties, ...(!isPublic && { api_key: apiKey }) },
  }
  return {
    description: isPublic
      ? 'Parameters are refused in the query, because they are secrets.'
      : 'Parameters may also be in the query. An empty body counts as an empty object.',
    content: {
      'application/json': { schema, example: example.given },
      'application/x-www-form-urlencoded': { schema },
      ...(takesFileInForm && { 'multipart/form-data': { schema: withFile(schema) } }),
    },
  }
}

const fileSchema: JsonSchema = { contentMediaType: 'application/octet-stream' }

function withFile(schema: JsonSchema): JsonSchema {
  const file = { ...fileSchema, description: 'A part of the form with a file, instead of `url`' }
  return { ...schema, properties: { ...schema.properties, file } }
}

const fileBody: NonNullable<OpenApiOperation['requestBody']> = {
  description: 'The file, or a form whose first part with a file name is the file.',
  content: {
    'multipart/form-data': {
      schema: { type: 'object', properties: { file: fileSchema }, required: ['file'] },
    },
    'application/octet-stream': { schema: fileSchema },
  },
}

const pngSchema: JsonSchema = {
  contentMediaType: pngType,
  description: 'For requests whose header Accept prefers image/png. Errors are JSON',
}

const streamSchema: JsonSchema = {
  type: 'string',
  description:
    'Server-sent events. `data` is an Event in JSON, `id` its `event_id` and `event` its type. A heartbeat comes every 15 s',
}

const linesSchema: JsonSchema = { type: 'string', description: 'JSON objects, one a line' }

function success(operation: Operation): OpenApiResponse {
  const replayed: ResponseHeader[] = takesIdempotencyKey(operation) ? ['Idempotent-Replayed'] : []
  const example = { ok: true, ...operation.example.answer }
  return {
    description: 'Success',
    headers: referToHeaders([...headersOfAll, ...replayed]),
    content: operation.hasLines
      ? { [linesType]: { schema: linesSchema } }
      : operation.isStream
        ? { 'text/event-stream': { schema: streamSchema } }
        : {
            'application/json': { schema: answerSchema(operation), example },
            ...(operation.hasPng && { [pngType]: { schema: pngSchema } }),
          },
  }
}
