import { createRequire } from 'node:module'
import type { Operation } from '../calls/operation.ts'
import type { HealthCheck } from '../health/health-checks.ts'
import { eventWebhooks } from './event-webhooks.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import { healthPath } from './health-path.ts'
import { introduction } from './introduction.ts'
import { collectComponents } from './json-schemas.ts'
import { mediaPath, mediaTag } from './media-path.ts'
import type { OpenApiDocument } from './openapi-types.ts'
import { operationPath } from './operation-path.ts'
import { documentPath } from './public-path.ts'
import { securitySchemes } from './security-schemes.ts'

const { version } = createRequire(import.meta.url)('../../package.json')

/** The OpenAPI document of the whole API, derived from the same table as its routes. */
export function makeDocument(operations: Operation[], checks: HealthCheck[]): OpenApiDocument {
  const { document, schemas } = collectComponents({
    openapi: '3.1.0',
    info: {
      title: 'wagate',
      version,
      summary: 'An HTTP API for sending WhatsApp messages',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: 'This gateway' },
      { url: '/api', description: 'This gateway, with a prefix' },
    ],
    tags: [
      ...operations.map(({ name, summary }) => ({ name, description: summary })),
      mediaTag,
      { name: 'public', description: 'Paths without an API key' },
    ],
    paths: {
      ...Object.fromEntries(operations.map((operation) => [`/${operation.name}`, operationPath(operation)])),
      '/media': mediaPath(),
      ...Object.fromEntries(checks.map((check) => [check.path, healthPath(check)])),
      '/openapi.json': documentPath(),
    },
    webhooks: eventWebhooks(),
  })
  return {
    ...document,
    components: {
      schemas,
      headers: responseHeaders,
      parameters: requestHeaders,
      securitySchemes,
    },
  } as OpenApiDocument
}
