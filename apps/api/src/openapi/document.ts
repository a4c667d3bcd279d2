import { createRequire } from 'node:module'
import { eventTypeNames } from '@wagate/shared/event-types'
import { eventKinds } from '@wagate/shared/objects/event-kinds'
import { exampleEventOf } from '@wagate/shared/objects/event-object'
import type { Operation } from '../calls/operation.ts'
import type { HealthCheck } from '../health/health-checks.ts'
import { errorsOfEveryPath } from './documented-errors.ts'
import { errorResponses, referToHeaders } from './error-responses.ts'
import { eventSchema } from './event-schemas.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import { introduction } from './introduction.ts'
import { collectComponents, toJsonSchema } from './json-schemas.ts'
import { mediaPath, mediaTag } from './media-path.ts'
import type { OpenApiDocument, OpenApiPath, OpenApiWebhook } from './openapi-types.ts'
import { operationPath } from './operation-path.ts'
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

/** A path that needs no API key and is not available under `/api`. */
function publicPath(
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

function documentPath(): OpenApiPath {
  return publicPath('openapi', 'This document', {
    200: {
      description: 'OpenAPI 3.1',
      headers: referToHeaders(['X-Request-Id']),
      content: { 'application/json': { schema: { type: 'object' } } },
    },
  })
}

const headers = referToHeaders(['X-Request-Id'])

function healthPath({ path, summary, answers }: HealthCheck): OpenApiPath {
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

/** Every type of event, as the request that delivers it. */
function eventWebhooks(): Record<string, OpenApiWebhook> {
  return Object.fromEntries(
    eventTypeNames.map((type) => [
      type,
      {
        post: {
          operationId: `on-${type.replaceAll(/[._]/g, '-')}`,
          tags: ['events'],
          summary: eventKinds[type].when,
          security: [],
          requestBody: {
            description: 'The event, as `events` returns it',
            content: { 'application/json': { schema: eventSchema(type), example: exampleEventOf(type) } },
          },
          responses: {
            '2XX': { description: 'The event was received' },
            '4XX': { description: 'The event was not received' },
          },
        },
      },
    ]),
  )
}
