import { createHash } from 'node:crypto'
import { formatEventId } from '@wagate/shared/event-ids'
import { type EventRow, toEventObject } from '@wagate/shared/objects/event-object'
import type { MediaLinker } from '@wagate/shared/objects/media-object'
import { storedChange } from '@wagate/shared/objects/message-change'
import type { MessageRow } from '@wagate/shared/objects/message-object'
import { phoneForms } from '@wagate/shared/phone'

const phoneServer = 's.whatsapp.net'

export type DeliveryRequest = {
  /** The same at every attempt with these events, so that the target recognises a repeated request. */
  id: string
  eventIds: string[]
  events: EventRow[]
  /** In flight is at most one request with each of them. */
  subjects: ReadonlySet<string>
  /** That have failed before. */
  attempts: number
  /** Of a stored delivery. Undefined for a request of the stream. */
  deliveryId: string | undefined
}

export function makeRequest(
  events: EventRow[],
  stored: { attempts: number; deliveryId: string | undefined } = { attempts: 0, deliveryId: undefined },
): DeliveryRequest {
  const eventIds = events.map(({ position }) => formatEventId(position))
  return {
    ...stored,
    id: requestIdOf(eventIds),
    eventIds,
    events,
    subjects: new Set(events.flatMap(subjectsOf)),
  }
}

/** Events in their order, `eventsMax` to a request. */
export function makeRequests(events: EventRow[], eventsMax: number): DeliveryRequest[] {
  const requests: DeliveryRequest[] = []
  for (let from = 0; from < events.length; from += eventsMax) {
    requests.push(makeRequest(events.slice(from, from + eventsMax)))
  }
  return requests
}

/** With `eventsMax` 1 the event, as GET /events has it, otherwise a list. */
export function bodyOf(
  { events }: DeliveryRequest,
  { eventsMax, linkTo }: { eventsMax: number; linkTo?: MediaLinker },
): string {
  const objects = events.map((event) => toEventObject(event, linkTo))
  return JSON.stringify(eventsMax === 1 && objects.length === 1 ? objects[0] : { events: objects })
}

/** Of one event its id. Receivers skip an id that they know, so another selection of events has another one. */
function requestIdOf(eventIds: string[]): string {
  const [first = '', ...others] = eventIds
  if (others.length === 0) return first
  return `evts_${createHash('sha256').update(eventIds.join(' ')).digest('hex').slice(0, 40)}`
}

/** What must stay in order: the conversation of a sender with one recipient, or all that happens to a device. */
function subjectsOf({ message, messageId, deviceId, data }: EventRow): string[] {
  if (message) return namesOf(message).map((name) => `${message.deviceId} ${name}`)
  const names = namesOf(changedBy(data))
  return names.length > 0 ? names.map((name) => `${deviceId} ${name}`) : [messageId ?? `device ${deviceId}`]
}

/** The contact in whose chat an unknown message was changed: the event has it, in place of the message. */
function changedBy(data: EventRow['data']): Contact {
  const change = storedChange.safeParse(data).data
  return { number: change?.number ?? '', contactJid: change?.contactJid ?? null, contact: null }
}

type Contact = Pick<MessageRow, 'number' | 'contactJid' | 'contact'>

/**
 * Of a contact: WhatsApp may know its number in two forms, and a LID before the number. Messages of the same contact have one
 * of them in common, as far as the messages tell.
 */
function namesOf({ number, contactJid, contact }: Contact): string[] {
  const [user = '', server] = contactJid?.split('@') ?? []
  const numbers = [number, server === phoneServer ? user : '']
  const names = numbers.flatMap((digits) => (digits ? phoneForms(digits) : []))
  const known = contact ? [contact.lidJid] : []
  return [...names, ...known, ...(contactJid && server !== phoneServer ? [contactJid] : [])]
}
