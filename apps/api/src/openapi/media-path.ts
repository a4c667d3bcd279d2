import type { RequestErrorCode } from '../errors/request-errors.ts'
import { mediaParameters } from '../received-media/admit-media-reader.ts'
import { always, ofCredentials } from './documented-errors.ts'
import { errorResponses, referToHeaders } from './error-responses.ts'
import { toJsonSchema } from './json-schemas.ts'
import type { OpenApiPath } from './openapi-types.ts'
import { securitySchemes } from './security-schemes.ts'

const errors: RequestErrorCode[] = [
  ...always,
  ...ofCredentials.filter((code) => code !== 'session_ended' && code !== 'origin_refused'),
  'missing_parameter',
  'media_link_invalid',
  'media_not_found',
  'media_unavailable',
  'media_pending',
  'range_not_satisfiable',
]

const summary = 'Return the file of a received message, or with the header Range a part of it'
const file = { 'application/octet-stream': { schema: { contentMediaType: 'application/octet-stream' } } }

/** Not an operation of the table: its answer is no JSON, and a signed link replaces the API key. */
export function mediaPath(tag: string): OpenApiPath {
  const { properties = {}, required = [] } = toJsonSchema(mediaParameters, 'input')
  const headers = referToHeaders(['X-Request-Id', 'RateLimit', 'RateLimit-Policy'])
  return {
    get: {
      operationId: 'media',
      tags: [tag],
      summary,
      security: [...Object.keys(securitySchemes).map((scheme) => ({ [scheme]: [] })), {}],
      parameters: Object.entries(properties).map(([name, { description, ...schema }]) => ({
        name,
        in: 'query',
        required: required.includes(name),
        ...(description !== undefined && { description }),
        schema,
      })),
      responses: {
        200: {
          description: 'The file, as an attachment. Its type is the one that its bytes show',
          headers,
          content: file,
        },
        206: { description: 'The part of the file that Range names', headers, content: file },
        ...errorResponses(errors, ['X-Request-Id', 'RateLimit', 'RateLimit-Policy']),
      },
    },
  }
}
