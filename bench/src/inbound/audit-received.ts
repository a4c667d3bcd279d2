import type { InboundFacts } from '@wagate/test-kit/load/records'
import type { ReadEvent } from '../event-reader.ts'
import type { Written } from './phone-writer.ts'

/** Each list names texts of messages. */
export type ReceivedAudit = {
  /** Not exactly once in the history. */
  notStoredOnce: string[]
  /** Not exactly once in the stream of events. */
  notToldOnce: string[]
  /** Stored after a later message of the same contact. */
  storedLate: string[]
  /** Told after a later message of the same contact. */
  toldLate: string[]
}

type Facts = { written: Written[]; stored: InboundFacts[]; told: ReadEvent[] }

/** Compares what phones wrote with what was stored, in its order, and with what the stream told, in its order. */
export function auditReceived({ written, stored, told }: Facts): ReceivedAudit {
  const storedKeys = stored.map(({ waId, sender, body }) => keyOf(waId, sender, body))
  const toldKeys = told.map(({ message }) =>
    message ? keyOf(message.wa_message_id, message.sender, message.message) : '',
  )
  return {
    notStoredOnce: listNotOnce(written, storedKeys),
    notToldOnce: listNotOnce(written, toldKeys),
    storedLate: listLate(written, storedKeys),
    toldLate: listLate(written, toldKeys),
  }
}

function keyOf(waId: string, sender: string, text: string | null): string {
  return `${waId} ${sender} ${text}`
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
