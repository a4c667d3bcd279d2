import { z } from 'zod'
import { type EventPosition, formatEventId } from '../event-ids.ts'
import { eventTypeNames, eventTypeOf } from '../event-types.ts'
import { extensibleEnum } from './extensible-enum.ts'
import type { MediaLinker } from './media-object.ts'
import { exampleMessage, type MessageRow, messageObject, toMessageObject } from './message-object.ts'

export const eventObject = z
  .object({
    event_id: z
      .string()
      .describe('Unique, and the same at every delivery. The order of IDs is that of the events'),
    type: extensibleEnum(eventTypeNames),
    version: z.int().describe('Version of `data` for this type. Fields may be added without a new version'),
    timestamp: z.iso.datetime().describe('When it happened'),
    recorded_at: z.iso.datetime().describe('When the gateway recorded it'),
    device_id: z.int().nullable(),
    data: z.object({
      message_id: z.uuid().optional().describe('For types that begin with `message.` or `media.`'),
      message: messageObject
        .nullable()
        .optional()
        .describe(
          'The message as it is when the event is read, so its status may be a later one. null after its retention period',
        ),
    }),
  })
  .meta({ id: 'Event' })

type EventObject = z.infer<typeof eventObject>

export const exampleEvent: EventObject = {
  event_id: 'evt_697dee5100000000a3f100000000004e697def40',
  type: 'message.delivered',
  version: 1,
  timestamp: '2026-01-31T12:00:01.020Z',
  recorded_at: '2026-01-31T12:00:01.032Z',
  device_id: 7,
  data: { message_id: exampleMessage.message_id, message: exampleMessage },
}

/** An event as the database has it. Times are ISO 8601. */
export type EventRow = {
  position: EventPosition
  /** See `eventTypes`. */
  type: number
  deviceId: number | null
  messageId: string | null
  /** The message as it is now. Undefined for an event of no message, and of one that retention has removed. */
  message: MessageRow | undefined
  /** When it happened. */
  at: string
  createdAt: string
}

/** Without `linkTo`, received files have no links. */
export function toEventObject(
  { position, type, at, createdAt, deviceId, messageId, message }: EventRow,
  linkTo?: MediaLinker,
): EventObject {
  return {
    event_id: formatEventId(position),
    // Written by a later version that runs beside this one.
    type: eventTypeOf(type) ?? 'other',
    version: 1,
    timestamp: at,
    recorded_at: createdAt,
    device_id: deviceId,
    data: {
      ...(messageId !== null && {
        message_id: messageId,
        message: message ? toMessageObject(message, linkTo) : null,
      }),
    },
  }
}
