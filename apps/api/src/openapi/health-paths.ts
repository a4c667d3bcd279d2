import type { HealthCheck } from '../health.ts'
import { errorsOfEveryPath } from './documented-errors.ts'
import { errorResponses, refer } from './error-responses.ts'
import { toJsonSchema } from './json-schemas.ts'
import type { OpenApiPath } from './openapi-types.ts'

/** Not under the prefix. */
const servers = [{ url: '/' }]
const headers = refer(['X-Request-Id'])

export function pathOfCheck({ path, summary, answers }: HealthCheck): OpenApiPath {
  const responses = Object.entries(answers).map(([status, fields]) => [
    status,
    {
      description: status === '200' ? 'It is' : 'It is not',
      headers,
      content: { 'application/json': { schema: toJsonSchema(fields, 'output') } },
    },
  ])
  return publicPath(path.slice(1).replace('/', '-'), summary, Object.fromEntries(responses))
}

export function pathOfDocument(): OpenApiPath {
  const schema = { type: 'object' }
  const content = { 'application/json': { schema } }
  return publicPath('openapi', 'This document', {
    200: { description: 'OpenAPI 3.1', headers, content },
  })
}

function publicPath(
  operationId: string,
  summary: string,
  responses: NonNullable<OpenApiPath['get']>['responses'],
): OpenApiPath {
  return {
    servers,
    get: {
      operationId,
      tags: ['public'],
      summary,
      security: [],
      parameters: [],
      responses: { ...responses, ...errorResponses(errorsOfEveryPath, ['X-Request-Id']) },
    },
  }
}
