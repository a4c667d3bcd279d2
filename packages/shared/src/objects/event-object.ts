import { z } from 'zod'
import { lidOf, numberOf } from '../contact-key.ts'
import { type EventPosition, formatEventId } from '../event-ids.ts'
import { type EventType, eventTypeNames, eventTypeOf } from '../event-types.ts'
import type { DeviceStatus } from '../statuses.ts'
import { anyData, eventKinds } from './event-kinds.ts'
import { extensibleEnum } from './extensible-enum.ts'
import type { MediaLinker } from './media-object.ts'
import { changeFieldsOf, isChange } from './message-change.ts'
import { exampleMessage, type MessageRow, toMessageObject } from './message-object.ts'

export const eventObject = z
  .object({
    event_id: z
      .string()
      .describe('Unique, and the same at every delivery. The order of IDs is that of the events'),
    type: extensibleEnum(eventTypeNames),
    version: z.int().describe('Version of `data` for this type. Fields may be added without a new version'),
    timestamp: z.iso.datetime().describe('When it happened'),
    recorded_at: z.iso.datetime().describe('When the gateway recorded it'),
    device_id: z.int().nullable().describe('The sender that it concerns'),
    data: anyData,
  })
  .meta({ id: 'Event' })

export type EventObject = z.infer<typeof eventObject>

/** The schema of one type. */
export function eventSchemaOf(type: EventType) {
  return eventObject.extend({ type: z.literal(type), data: eventKinds[type].data })
}

/** `name`: when the event is read. */
export type EventDevice = { id: number; sender: string; name: string }

/** An event as the database has it. Times are ISO 8601. */
export type EventRow = {
  position: EventPosition
  /** See `eventTypes`. */
  type: number
  deviceId: number | null
  messageId: string | null
  /** The message as it is now. Undefined for an event of no message, and of one that retention has removed. */
  message: MessageRow | undefined
  /** Undefined for an event of no device, and of a device that no longer exists. */
  device: EventDevice | undefined
  /** Fields of the type. */
  data: Record<string, unknown> | null
  /** When it happened. */
  at: string
  createdAt: string
}

/** Without `linkTo`, received files have no links. */
export function toEventObject(row: EventRow, linkTo?: MediaLinker): EventObject {
  // Written by a later version that runs beside this one.
  const type = eventTypeOf(row.type) ?? 'other'
  return {
    event_id: formatEventId(row.position),
    type,
    version: 1,
    timestamp: row.at,
    recorded_at: row.createdAt,
    device_id: row.deviceId,
    data: {
      ...subjectOf(row, type, linkTo),
      ...(isChange(type) ? changeFieldsOf(type, row.data) : row.data),
      ...(isOfRecipient(type) && recipientFieldsOf(row.data)),
    },
  }
}

function isOfRecipient(type: EventType | 'other'): boolean {
  return type === 'recipient.opted_out' || type === 'recipient.opted_in'
}

/** Stored is the key of the contact. */
function recipientFieldsOf(data: EventRow['data']) {
  const key = String(data?.number ?? '')
  return { number: numberOf(key), lid: lidOf(key) }
}

function subjectOf(
  { messageId, message, device, data }: EventRow,
  type: EventType | 'other',
  linkTo?: MediaLinker,
) {
  if (messageId !== null || isChange(type))
    return { message_id: messageId, message: message ? toMessageObject(message, linkTo) : null }
  if (!type.startsWith('device.')) return {}
  return { device: device ? toDevice(device, type, data) : null }
}

function toDevice(
  { id: device_id, sender, name }: EventDevice,
  type: EventType | 'other',
  data: EventRow['data'],
) {
  const status = type === 'device.passkey_required' ? String(data?.step) : statusAfter[type]
  return { device_id, sender, name, ...(status !== undefined && { status }) }
}

const statusAfter: { [type: string]: DeviceStatus } = {
  'device.connected': 'connected',
  'device.disconnected': 'disconnected',
  'device.qr': 'scanning',
  'device.pairing_code': 'scanning',
  'device.unlinked': 'disconnected',
}

export function exampleEventOf(type: EventType): EventObject {
  const { data, example } = eventKinds[type]
  const { message_id, device_id, sender } = exampleMessage
  const device = { id: device_id, sender, name: 'Shop' }
  return {
    event_id: 'evt_697dee5100000000a3f100000000004e697def40',
    type,
    version: 1,
    timestamp: '2026-01-31T12:00:01.020Z',
    recorded_at: '2026-01-31T12:00:01.032Z',
    device_id,
    data: {
      ...('message' in data.shape && { message_id, message: exampleMessage }),
      ...('device' in data.shape && { device: toDevice(device, type, example) }),
      ...example,
    },
  }
}
