import type { Phone } from '../network/phone.ts'

export type TimelineEntry = {
  direction: 'in' | 'out'
  with: string
  wa_message_id: string
  type: string
  text: string | null
  caption: string | null
  mime: string | null
  size: number | null
  /** Of a document. */
  filename: string | null
  at: string
  status: 'sent' | 'delivered' | 'read' | 'received'
}

const entriesMax = 500

/** The most recent messages of a handset in both directions, oldest first, as on its screen. */
export function timeline(phone: Phone): TimelineEntry[] {
  const received = [...phone.chat.received.values()].slice(-entriesMax).map(
    ({ message, read, media }): TimelineEntry => ({
      direction: 'in',
      with: message.from,
      wa_message_id: message.wa_message_id,
      type: message.type,
      text: message.text,
      caption: message.caption,
      mime: message.mime,
      size: message.size,
      filename: media?.filename ?? null,
      at: message.received_at,
      status: read ? 'read' : 'received',
    }),
  )
  const sent = [...phone.chat.sent.values()].slice(-entriesMax).map(
    ({ to, sent_at, plaintext: _, media, ...shown }): TimelineEntry => ({
      direction: 'out',
      filename: media?.filename ?? null,
      with: to,
      at: sent_at,
      ...shown,
    }),
  )
  return [...received, ...sent].sort((a, b) => a.at.localeCompare(b.at)).slice(-entriesMax)
}
