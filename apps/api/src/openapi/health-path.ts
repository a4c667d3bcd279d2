import type { HealthCheck } from '../health/health-checks.ts'
import { referToHeaders } from './error-responses.ts'
import { toJsonSchema } from './json-schemas.ts'
import type { OpenApiPath } from './openapi-types.ts'
import { publicPath } from './public-path.ts'

const headers = referToHeaders(['X-Request-Id'])

export function healthPath({ path, summary, answers }: HealthCheck): OpenApiPath {
  const responses = Object.entries(answers).map(([status, fields]) => [
    status,
    {
      description: status === '200' ? 'Healthy' : 'Not healthy',
      headers,
      content: { 'application/json': { schema: toJsonSchema(fields, 'output') } },
    },
  ])
  return publicPath(path.slice(1).replace('/', '-'), summary, Object.fromEntries(responses))
}
