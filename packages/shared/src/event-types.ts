/**
 * The types of events, and the number that stands for each in the database. A number that was used once never gets
 * another meaning. Types are only added.
 */
export const eventTypes = {
  'message.accepted': 1,
  'message.sent': 2,
  'message.delivered': 3,
  'message.read': 4,
  'message.failed': 6,
  'message.canceled': 7,
  'message.received': 10,
  'media.stored': 20,
  'media.unavailable': 21,
} as const

export type EventType = keyof typeof eventTypes

export const eventTypeNames = Object.keys(eventTypes) as EventType[]

const namesByNumber = new Map(eventTypeNames.map((name) => [eventTypes[name] as number, name]))

/** Undefined for a type of a later version. */
export function eventTypeOf(number: number): EventType | undefined {
  return namesByNumber.get(number)
}
