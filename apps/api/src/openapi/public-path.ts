import { errorsOfEveryPath } from './documented-errors.ts'
import { errorResponses, referToHeaders } from './error-responses.ts'
import type { OpenApiPath } from './openapi-types.ts'

/** A path that needs no API key and is not available under `/api`. */
export function publicPath(
  operationId: string,
  summary: string,
  responses: NonNullable<OpenApiPath['get']>['responses'],
): OpenApiPath {
  return {
    servers: [{ url: '/' }],
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

export function documentPath(): OpenApiPath {
  return publicPath('openapi', 'This document', {
    200: {
      description: 'OpenAPI 3.1',
      headers: referToHeaders(['X-Request-Id']),
      content: { 'application/json': { schema: { type: 'object' } } },
    },
  })
}
