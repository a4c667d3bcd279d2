/** `canceled`: the client tries to cancel it soon after it was accepted. */
export type MessageKind = 'text' | 'media' | 'scheduled' | 'canceled'

/** Shares of the messages, from 0 to 1. The rest are texts to be sent at once. */
export type Mix = Partial<Record<Exclude<MessageKind, 'text'>, number>>

/** Far enough for a request that has to be repeated during a short outage. */
const aheadMs = { least: 5000, most: 10_000 }
const file = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n')
const fileUrl = `data:application/pdf;base64,${file.toString('base64')}`

export function chooseKind(
  { media = 0, scheduled = 0, canceled = 0 }: Mix,
  random: () => number,
): MessageKind {
  const draw = random()
  if (draw < media) return 'media'
  if (draw < media + scheduled) return 'scheduled'
  return draw < media + scheduled + canceled ? 'canceled' : 'text'
}

/** ISO 8601; undefined means at once. Half of the messages to cancel are about to be sent. */
export function chooseTime(kind: MessageKind, random: () => number): string | undefined {
  const isAhead = kind === 'scheduled' || (kind === 'canceled' && random() < 0.5)
  if (!isAhead) return undefined
  return new Date(Date.now() + aheadMs.least + random() * (aheadMs.most - aheadMs.least)).toISOString()
}

/** The content of a request. `text` is the text or caption, and also the idempotency key. */
type Intended = {
  kind: MessageKind
  sender: string
  number: string
  text: string
  sendAt: string | undefined
}

/** The same for every attempt. The text is the idempotency key as well. */
export function requestOf({ kind, sender, number, text, sendAt }: Intended): {
  operation: string
  fields: Record<string, unknown>
} {
  const common = { sender, number, idempotency_key: text, ...(sendAt !== undefined && { send_at: sendAt }) }
  if (kind !== 'media') return { operation: 'send-message', fields: { ...common, message: text } }
  return {
    operation: 'send-media',
    fields: { ...common, type: 'document', url: fileUrl, caption: text, filename: 'a.pdf' },
  }
}
