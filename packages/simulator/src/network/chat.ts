import { evictOldest } from './evict-oldest.ts'

const entriesMax = 200_000

type FileOnPhone = {
  filename: string | null
  seconds: number | null
  width: number | null
  height: number | null
  preview: string | null
  is_gif?: boolean
  is_voice_note?: boolean
}

/** One message that reached a handset, as the control interface shows it. */
export type ReceivedMessage = {
  wa_message_id: string
  from: string
  type: string
  text: string | null
  caption: string | null
  mime: string | null
  /** Of the decrypted media, in hex. */
  sha256: string | null
  size: number | null
  /** What its sender says of a file. `preview` is a JPEG in base64. */
  file?: FileOnPhone
  /** The message that it quotes, as its sender tells it. */
  quoted?: { wa_message_id: string; participant: string | null; text: string | null } | undefined
  received_at: string
  duplicates: number
}

/** Where a receipt for a received message goes. */
type Origin = { number: string; device: number; addressedAs: string }

/** Where the file of a message is, the key to it, and its name, which documents have. */
export type KnownMedia = { directPath: string; mediaKey: Uint8Array; filename?: string }

/** `secret`: with which reactions to it and edits of it are encrypted, base64. */
export type Received = {
  message: ReceivedMessage
  origin: Origin
  read: boolean
  secret?: string | undefined
  media?: KnownMedia
}

/** A message this account sent, from the handset itself or from a companion. */
export type Sent = {
  wa_message_id: string
  to: string
  type: string
  text: string | null
  caption: string | null
  mime: string | null
  size: number | null
  sent_at: string
  status: 'sent' | 'delivered' | 'read'
  /** The padded plaintext, kept for retry receipts; only messages of the handset itself have it. */
  plaintext?: Buffer
  media?: KnownMedia
}

export type Chat = { received: Map<string, Received>; sent: Map<string, Sent> }

export function emptyChat(): Chat {
  return { received: new Map(), sent: new Map() }
}

/** Sender and id identify a message: real phones drop repeats. */
export const receivedKey = (from: string, id: string): string => `${from} ${id}`

export function addReceived(chat: Chat, received: Received): void {
  chat.received.set(receivedKey(received.message.from, received.message.wa_message_id), received)
  evictOldest(chat.received, entriesMax)
}

export function addSent(chat: Chat, sent: Sent): void {
  chat.sent.set(sent.wa_message_id, sent)
  evictOldest(chat.sent, entriesMax)
}
