import { createRequire } from 'node:module'
import { eventTypeNames } from '@wagate/shared/event-types'
import { eventKinds } from '@wagate/shared/objects/event-kinds'
import { exampleEventOf } from '@wagate/shared/objects/event-object'
import type { HealthCheck } from '../health/health-checks.ts'
import type { OperationGroup } from '../operations.ts'
import { errorsOfEveryPath } from './documented-errors.ts'
import { errorResponses, referToHeaders } from './error-responses.ts'
import { eventSchema } from './event-schemas.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import { introduction } from './introduction.ts'
import { collectComponents, toJsonSchema } from './json-schemas.ts'
import { mediaPath } from './media-path.ts'
import type { OpenApiDocument, OpenApiPath, OpenApiWebhook } from './openapi-types.ts'
import { operationPath } from './operation-path.ts'
import { securitySchemes } from './security-schemes.ts'

const { version } = createRequire(import.meta.url)('../../package.json')

const publicTag = 'Health and description'

/** The OpenAPI document of the whole API, derived from the same table as its routes. */
export function makeDocument(groups: OperationGroup[], checks: HealthCheck[]): OpenApiDocument {
  const titleWith = (name: string) =>
    groups.find(({ operations }) => operations.some((operation) => operation.name === name))?.title ??
    publicTag
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
      ...groups.map(({ title, about }) => ({ name: title, description: about })),
      { name: publicTag, description: 'Paths without an API key' },
    ],
    paths: {
      ...Object.fromEntries(
        groups.flatMap(({ title, operations }) =>
          operations.map((operation) => [`/${operation.name}`, operationPath(operation, title)]),
        ),
      ),
      '/media': mediaPath(titleWith('messages')),
      ...Object.fromEntries(checks.map((check) => [check.path, healthPath(check)])),
      '/': startPath(),
      '/openapi.json': documentPath(),
    },
    webhooks: eventWebhooks(titleWith('set-webhook')),
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
      tags: [publicTag],
      summary,
      security: [],
      parameters: [],
      responses: { ...responses, ...errorResponses(errorsOfEveryPath, ['X-Request-Id']) },
    },
  }
}

/** Where a program, or a person with curl, can go on from "/". */
export const startingPoints = {
  ok: true,
  name: 'wagate',
  docs: '/docs',
  openapi: '/openapi.json',
  link: '/link',
  health: '/health/ready',
}

function startPath(): OpenApiPath {
  const names = Object.keys(startingPoints)
  const properties = Object.fromEntries(
    Object.entries(startingPoints).map(([name, value]) => [name, { type: typeof value, const: value }]),
  )
  const schema = { type: 'object', properties, required: names, additionalProperties: false }
  return publicPath('start', 'Where to go on. Browsers get a page', {
    200: {
      description: 'Paths of this gateway',
      headers: referToHeaders(['X-Request-Id']),
      content: { 'application/json': { schema } },
    },
  })
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
function eventWebhooks(tag: string): Record<string, OpenApiWebhook> {
  return Object.fromEntries(
    eventTypeNames.map((type) => [
      type,
      {
        post: {
          operationId: `on-${type.replaceAll(/[._]/g, '-')}`,
          tags: [tag],
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
