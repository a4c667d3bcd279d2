/**
 * The types of events, and the number that stands for each in the database. A number that was used once never gets
 * another meaning. Types are only added.
 */
export const eventTypes = {
  'message.accepted': 1,
  'message.sent': 2,
  'message.delivered': 3,
  'message.read': 4,
  'message.played': 5,
  'message.failed': 6,
  'message.canceled': 7,
  'message.received': 10,
  'message.reaction': 11,
  'message.edited': 12,
  'message.deleted': 13,
  'message.poll_vote': 14,
  'message.marked_read': 15,
  'message.sent_from_phone': 18,
  'message.read_on_phone': 19,
  'media.stored': 20,
  'media.unavailable': 21,
  'device.connected': 30,
  'device.disconnected': 31,
  'device.qr': 32,
  'device.pairing_code': 33,
  'device.passkey_required': 34,
  'device.restricted': 35,
  'device.restriction_ended': 36,
  'device.quota': 37,
  'device.unlinked': 38,
  'recipient.opted_out': 40,
  'recipient.opted_in': 41,
  'device.paused': 45,
  'device.resumed': 46,
  'webhook.disabled': 50,
  'webhook.test': 51,
} as const

export type EventType = keyof typeof eventTypes

export const eventTypeNames = Object.keys(eventTypes) as EventType[]

const namesByNumber = new Map(eventTypeNames.map((name) => [eventTypes[name] as number, name]))

/** Undefined for a type of a later version. */
export function eventTypeOf(number: number): EventType | undefined {
  return namesByNumber.get(number)
}
