import { createRequire } from 'node:module'
import type { HealthCheck } from '../health.ts'
import type { Operation } from '../operation.ts'
import { requestHeaders, responseHeaders, securitySchemes } from './headers.ts'
import { pathOfCheck, pathOfDocument } from './health-paths.ts'
import { introduction } from './introduction.ts'
import { collectComponents } from './json-schemas.ts'
import type { OpenApiDocument } from './openapi-types.ts'
import { pathOf } from './operation-path.ts'

const { version } = createRequire(import.meta.url)('../../package.json')

/** The description of the whole interface, out of the table that also makes its routes. */
export function makeDocument(operations: Operation[], checks: HealthCheck[]): OpenApiDocument {
  const { document, schemas } = collectComponents({
    openapi: '3.1.0',
    info: {
      title: 'wagate',
      version,
      summary: 'Sends WhatsApp messages for programs',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: 'This gateway' },
      { url: '/api', description: 'The same under a prefix' },
    ],
    tags: [
      ...operations.map(({ name, summary }) => ({ name, description: summary })),
      { name: 'public', description: 'Without a key' },
    ],
    paths: {
      ...Object.fromEntries(operations.map((operation) => [`/${operation.name}`, pathOf(operation)])),
      ...Object.fromEntries(checks.map((check) => [check.path, pathOfCheck(check)])),
      '/openapi.json': pathOfDocument(),
    },
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
