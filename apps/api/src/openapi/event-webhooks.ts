import { eventTypeNames } from '@wagate/shared/event-types'
import { eventKinds } from '@wagate/shared/objects/event-kinds'
import { exampleEventOf } from '@wagate/shared/objects/event-object'
import { eventSchema } from './event-schemas.ts'
import type { OpenApiWebhook } from './openapi-types.ts'

/** Every type of event, as the request that delivers it. */
export function eventWebhooks(): Record<string, OpenApiWebhook> {
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
