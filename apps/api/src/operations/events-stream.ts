import type { StreamToken } from '@wagate/db/queries/events/stream-tokens'
import { type EventPosition, isEarlier, parseEventId } from '@wagate/shared/event-ids'
import { eventTypeNames, eventTypes } from '@wagate/shared/event-types'
import { eventObject, exampleEventOf } from '@wagate/shared/objects/event-object'
import { z } from 'zod'
import { defineStream } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'
import { eventCursor } from '../parameters/event-cursor.ts'
import { eventTypeList, recordId } from '../parameters/parameter-types.ts'

export const eventsStream = defineStream({
  name: 'events/stream',
  summary: 'Stream what happens as server-sent events, from a cursor on',
  admits: ['key', 'stream-token'],
  parameters: z.object({
    after: eventCursor
      .optional()
      .describe(
        'An `event_id`, or `next` of `events`: only events that follow it. `latest`, the default: only events from now on. The header Last-Event-ID takes precedence',
      ),
    types: eventTypeList
      .optional()
      .describe(`Only events of these types, separated by commas: ${eventTypeNames.join(', ')}`),
    device_id: recordId.optional().describe('Only events of this device'),
    token: z
      .string()
      .optional()
      .describe('Token from create-stream-token, for browsers. Replaces the API key'),
  }),
  fields: eventObject,
  errors: ['cursor_expired'],
  example: {
    given: { after: exampleEventOf('message.delivered').event_id },
    answer: exampleEventOf('message.delivered'),
  },
  async prepare({ after, types, device_id }, { context, principal, request }) {
    const cursor = findLastEvent(request.lastEventIdHeader) ?? after ?? 'latest'
    if (principal.streamToken && cursor !== 'latest') refuseEarlier(cursor, principal.streamToken)
    const position = await context.events.feed.start(cursor)
    const filter = { types: types?.map((type) => eventTypes[type]), deviceId: device_id }
    if (principal.streamToken) refuseWider(filter, principal.streamToken)
    return (connection) =>
      context.events.streams.open(principal.accountId, {
        after: position,
        filter: within(filter, principal.streamToken),
        connection,
      })
  },
})

type Filter = { types: number[] | undefined; deviceId: number | undefined }

function findLastEvent(header = '') {
  if (header === '') return undefined
  const position = parseEventId(header)
  if (position) return position
  throw new AppError('invalid_parameter', 'The header Last-Event-ID must be an event_id.')
}

/** Throws `credential_not_allowed`. */
function refuseWider({ types, deviceId }: Filter, token: StreamToken): void {
  const isWithin =
    (!types || !token.types || types.every((type) => token.types?.includes(type))) &&
    (deviceId === undefined || token.deviceId === null || deviceId === token.deviceId)
  if (isWithin) return
  throw new AppError('credential_not_allowed', 'The token was created for other types or another device.')
}

/** Throws `credential_not_allowed`. */
function refuseEarlier(cursor: EventPosition, { after }: StreamToken): void {
  const start = parseEventId(after ?? '')
  if (!start || !isEarlier(cursor, start)) return
  throw new AppError(
    'credential_not_allowed',
    'The token shows only what happens after its creation. To continue from an earlier cursor, create one with `after`.',
  )
}

function within({ types, deviceId }: Filter, token: StreamToken | undefined): Filter {
  return { types: types ?? token?.types ?? undefined, deviceId: deviceId ?? token?.deviceId ?? undefined }
}
