import type { LogLine, Received } from './phones.ts'
import type { InboundFacts, MessageFacts } from './records.ts'

/** The same messages as phones and the database have them. */
export type Sides = {
  /** Accepted messages. */
  records: MessageFacts[]
  log: LogLine[]
  /** The messages on each phone, by its number. */
  shown: Map<string, Received[]>
  /** WhatsApp ids of messages that a person has opened. */
  opened: ReadonlySet<string>
  /** Messages from phones to senders. */
  written: { waId: string; sender: string; text: string }[]
  inbound: InboundFacts[]
}

/** Each list names the culprits. */
export type Disagreements = {
  /** Reported as sent, and not exactly once on the phone of its recipient. */
  notShownOnce: string[]
  /** Reported as failed or canceled, and on a phone. */
  shownAlthoughOver: string[]
  /** The recipient's receipt went out, and the status tells of none. */
  receiptsLost: string[]
  /** A phone wrote it, and it is not exactly once in the history. */
  inboundNotStoredOnce: string[]
}

const arrived = ['sent', 'delivered', 'read']

/** Compares the database with the phones. */
export function auditPhones({ records, log, shown, opened, written, inbound }: Sides): Disagreements {
  const onPhones = new Map<string, number>()
  for (const [number, messages] of shown)
    for (const { from, text, caption } of messages) {
      const key = keyOf(from, number, text ?? caption)
      onPhones.set(key, (onPhones.get(key) ?? 0) + 1)
    }
  const timesShown = ({ sender, number, body }: MessageFacts) =>
    onPhones.get(keyOf(sender, number, body)) ?? 0
  const withReceipt = new Set(log.flatMap(({ receipt, wa_message_id: waId }) => (receipt ? [waId] : [])))

  function lacksReceipt({ waId, status }: MessageFacts): boolean {
    if (opened.has(waId)) return status !== 'read'
    return withReceipt.has(waId) && status !== 'delivered' && status !== 'read'
  }

  const stored = new Map<string, number>()
  for (const { sender, waId, body } of inbound) {
    const key = keyOf(sender, waId, body)
    stored.set(key, (stored.get(key) ?? 0) + 1)
  }

  return {
    notShownOnce: records.filter((it) => arrived.includes(it.status) && timesShown(it) !== 1).map(nameOf),
    shownAlthoughOver: records
      .filter((it) => ['failed', 'canceled'].includes(it.status) && timesShown(it) > 0)
      .map(nameOf),
    receiptsLost: records.filter(lacksReceipt).map(nameOf),
    inboundNotStoredOnce: written
      .filter(({ sender, waId, text }) => stored.get(keyOf(sender, waId, text)) !== 1)
      .map(({ text }) => text),
  }
}

/** None of the parts but the last has a space. */
function keyOf(...parts: (string | null)[]): string {
  return parts.join(' ')
}

function nameOf({ body, status, errorCode }: MessageFacts): string {
  return `${body}: ${errorCode ?? status}`
}
