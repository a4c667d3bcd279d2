import { createHash } from 'node:crypto'
import type { MessageType } from '@wagate/shared/statuses'
import {
  getContentType,
  isJidGroup,
  jidDecode,
  normalizeMessageContent,
  type WAMessage,
  type WAMessageKey,
} from 'baileys'

/** What a contact wrote, in a form that the database takes. */
export type Received = {
  waId: string
  number: string
  type: MessageType
  body: string | null
  /** True when something was left out: the rest is stored, and WhatsApp need not deliver it again. */
  isCleaned: boolean
}

/** What WhatsApp itself allows for a text. */
const bodyCharsMax = 65_536
const numberCharsMax = 64

/** Undefined for what is not a message from a contact: groups, the device's own messages, the protocol's own. */
export function readReceived({ key, message }: Pick<WAMessage, 'key' | 'message'>): Received | undefined {
  const content = normalizeMessageContent(message)
  const read = content && readContent(content)
  const source = readSource(key)
  if (!source || !read) return undefined
  const body = read.body === null ? null : cleanText(read.body, bodyCharsMax)
  return { ...source, type: read.type, body, isCleaned: source.isCleaned || body !== read.body }
}

/** A message that decrypts to something that is no message. */
export function readUndecodable(key: WAMessageKey): Received | undefined {
  const source = readSource(key)
  return source && { ...source, type: 'other', body: null, isCleaned: true }
}

/** What tells one message from all others of a device. Undefined for what is not from a contact. */
export function readSource({
  id,
  fromMe,
  remoteJid,
  remoteJidAlt,
}: WAMessageKey): Pick<Received, 'waId' | 'number' | 'isCleaned'> | undefined {
  if (!id || fromMe || !remoteJid || isJidGroup(remoteJid)) return undefined
  const phone = phoneOf(remoteJid, remoteJidAlt)
  const [waId, number] = [cleanId(id), cleanText(phone, numberCharsMax)]
  return { waId, number, isCleaned: waId !== id || number !== phone }
}

/** Of the two addresses of a contact, the one that is a phone number where WhatsApp tells it. */
function phoneOf(jid: string, alternative: string | undefined): string {
  const known = [jid, alternative].map((address) => jidDecode(address))
  return (known.find((address) => address?.server === 's.whatsapp.net') ?? known[0])?.user ?? jid
}

/** Postgres refuses U+0000, and UTF-8 has no form for half a surrogate pair. */
function cleanText(text: string, charsMax: number): string {
  return text.replaceAll('\0', '').slice(0, charsMax).toWellFormed()
}

/** The contact's client chooses the id. One of another form is replaced by its hash, so that it stays as unique as it was. */
function cleanId(id: string): string {
  return /^[!-~]{1,128}$/.test(id) ? id : `sha256:${createHash('sha256').update(id, 'utf16le').digest('hex')}`
}

type Content = NonNullable<ReturnType<typeof normalizeMessageContent>>

/** Undefined for what is no message to people: keys, receipts of the protocol, reactions. */
function readContent(content: Content): { type: MessageType; body: string | null } | undefined {
  switch (getContentType(content)) {
    case 'conversation':
      return { type: 'text', body: content.conversation ?? null }
    case 'extendedTextMessage':
      return { type: 'text', body: content.extendedTextMessage?.text ?? null }
    case 'imageMessage':
      return { type: 'image', body: content.imageMessage?.caption ?? null }
    case 'videoMessage':
      return { type: 'video', body: content.videoMessage?.caption ?? null }
    case 'audioMessage':
      return { type: 'audio', body: null }
    case 'documentMessage':
      return { type: 'document', body: content.documentMessage?.caption ?? null }
    case 'protocolMessage':
    case 'reactionMessage':
    case 'senderKeyDistributionMessage':
    case undefined:
      return undefined
    default:
      return { type: 'other', body: null }
  }
}
