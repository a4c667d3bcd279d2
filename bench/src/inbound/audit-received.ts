import type { InboundFacts } from '@wagate/test-kit/load/records'
import type { ReadEvent } from '../subscribers/read-event.ts'
import type { Written } from './phone-writer.ts'

/** Each list names texts of messages. */
export type ReceivedAudit = {
  /** Not exactly once in the history. */
  notStoredOnce: string[]
  /** Not exactly once in the stream of events. */
  notToldOnce: string[]
  /** Never at the target of the webhook. */
  notDelivered: string[]
  /** Stored after a later message of the same contact. */
  storedLate: string[]
  /** In the stream after a later message of the same contact. */
  toldLate: string[]
  /** At the target for the first time after a later message of the same contact. */
  deliveredLate: string[]
}

/** `told`: what the stream has. `delivered`: what came to the webhook. All in their order. */
type Facts = { written: Written[]; stored: InboundFacts[]; told: ReadEvent[]; delivered: ReadEvent[] }

/** Compares what phones wrote with what became of it. */
export function auditReceived({ written, stored, told, delivered }: Facts): ReceivedAudit {
  const storedKeys = stored.map(({ waId, sender, body }) => keyOf(waId, sender, body))
  const toldKeys = keysOf(told)
  const deliveredKeys = keysOf(delivered)
  return {
    notStoredOnce: listNotOnce(written, storedKeys),
    notToldOnce: listNotOnce(written, toldKeys),
    notDelivered: listNotOnce(written, [...new Set(deliveredKeys)]),
    storedLate: listLate(written, storedKeys),
    toldLate: listLate(written, toldKeys),
    deliveredLate: listLate(written, deliveredKeys),
  }
}

function keyOf(waId: string, sender: string, text: string | null): string {
  return `${waId} ${sender} ${text}`
}

function keysOf(events: ReadEvent[]): string[] {
  return events.flatMap(({ message }) => (message ? keyOf(message.waId, message.sender, message.text) : []))
}

function listNotOnce(written: Written[], keys: string[]): string[] {
  const times = new Map<string, number>()
  for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1)
  return written
    .filter(({ waId, sender, text }) => times.get(keyOf(waId, sender, text)) !== 1)
    .map(({ text }) => text)
}

function listLate(written: Written[], keys: string[]): string[] {
  const places = new Map(
    written.map((message, place) => [
      keyOf(message.waId, message.sender, message.text),
      { ...message, place },
    ]),
  )
  const latest = new Map<string, number>()
  return keys.flatMap((key) => {
    const message = places.get(key)
    if (!message) return []
    const conversation = `${message.sender} ${message.contact}`
    const before = latest.get(conversation) ?? -1
    latest.set(conversation, Math.max(before, message.place))
    return message.place < before ? [message.text] : []
  })
}
