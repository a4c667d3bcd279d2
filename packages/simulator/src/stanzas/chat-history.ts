import { createHash } from 'node:crypto'
import type { proto } from 'baileys'
import { type Past, pastContacts, pastMessage, pastName, pastSizes } from '../network/past.ts'
import type { Phone } from '../network/phone.ts'

/** A message in the history of a chat. `at` is in seconds. */
export type Entry = { id: string; fromMe: boolean; at: number; message: proto.IMessage }

const chatsMax = 5000
/** Of a chat, in the first part of a history. */
const messagesMax = 20

/** The newest messages of each chat, newest first, and after them those of its past. */
export function chatsOf(phone: Phone): Map<string, Entry[]> {
  const chats = newestMessages(phone)
  const { past } = phone
  if (past) {
    const sizes = pastSizes(past)
    for (const [chat, number] of pastContacts(past).entries()) {
      const entries = Array.from({ length: Math.min(sizes[chat] ?? 0, messagesMax) }, (_, index) =>
        pastEntry(past, chat, index),
      )
      chats.set(number, [...(chats.get(number) ?? []), ...entries])
    }
  }
  return new Map([...chats].slice(0, chatsMax))
}

type LaterEntry = { number: string; entry: () => Entry }

/** What a past has beyond the first part of a history: the newer half of each chat, and the rest. */
export function pastOf(past: Past): {
  recent: LaterEntry[]
  older: LaterEntry[]
  names: { number: string; name: string }[]
} {
  const sizes = pastSizes(past)
  const recent: LaterEntry[] = []
  const older: LaterEntry[] = []
  const contacts = pastContacts(past)
  for (const [chat, number] of contacts.entries()) {
    const size = sizes[chat] ?? 0
    for (let index = messagesMax; index < size; index += 1) {
      const entries = index < size / 2 ? recent : older
      entries.push({ number, entry: () => pastEntry(past, chat, index) })
    }
  }
  const names = contacts.map((number, chat) => ({ number, name: pastName(chat) }))
  return { recent, older, names }
}

function newestMessages({ chat }: Phone): Map<string, Entry[]> {
  const chats = new Map<string, Entry[]>()
  const entries = [
    ...[...chat.received.values()].map(({ message: { wa_message_id: id, from, text, received_at } }) => ({
      ...{ id, fromMe: false, text, at: Date.parse(received_at), with: from },
    })),
    ...[...chat.sent.values()].map(({ wa_message_id: id, to, text, sent_at }) => ({
      ...{ id, fromMe: true, text, at: Date.parse(sent_at), with: to },
    })),
  ]
  for (const { with: number, id, fromMe, text, at } of entries.sort((one, other) => other.at - one.at)) {
    const messages = chats.get(number) ?? []
    if (messages.length >= messagesMax) continue
    const entry = { id, fromMe, at: Math.floor(at / 1000), message: { conversation: text ?? '' } }
    chats.set(number, [...messages, entry])
  }
  return chats
}

function pastEntry(past: Past, chat: number, index: number): Entry {
  const { id, fromMe, at, text, thumbnail } = pastMessage(past, chat, index)
  return { id, fromMe, at, message: thumbnail ? imageMessage(id, text, thumbnail) : { conversation: text } }
}

/** Its file has long expired. */
function imageMessage(id: string, caption: string, jpegThumbnail: Buffer): proto.IMessage {
  const hash = (what: string) => createHash('sha256').update(`${what} ${id}`).digest()
  return {
    imageMessage: {
      ...{ caption, jpegThumbnail, mimetype: 'image/jpeg', height: 1600, width: 1200 },
      fileLength: 100_000 + caption.length,
      mediaKey: hash('key'),
      fileSha256: hash('file'),
      fileEncSha256: hash('encrypted'),
      directPath: `/v/image/${hash('path').toString('base64url')}`,
    },
  }
}
