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
import { type MediaDescriptor, readMediaDescriptor } from './media-descriptor.ts'

/** A message from a contact, in a form that Postgres accepts. */
export type Received = {
  waId: string
  /** Null when WhatsApp gives only another address. */
  number: string | null
  /** The address that is not the number: a LID, if it is known. */
  contactJid: string | null
  type: MessageType
  body: string | null
  /** True when parts were left out. The rest is stored, and WhatsApp need not deliver the message again. */
  isCleaned: boolean
  /** Of its file, if it has one. */
  media?: MediaDescriptor | undefined
}

/** WhatsApp's own limit for a text. */
const bodyCharsMax = 65_536
const addressCharsMax = 64

/** What identifies a message among all of a device. */
export type ReceivedSource = Pick<Received, 'waId' | 'number' | 'contactJid'>

/** Undefined for everything but messages from contacts: groups, the device's own messages, protocol messages. */
export function readReceived({ key, message }: Pick<WAMessage, 'key' | 'message'>): Received | undefined {
  const content = normalizeMessageContent(message)
  const read = content && readContent(content)
  const source = readSource(key)
  if (!source || !read) return undefined
  const body = read.body === null ? null : cleanText(read.body, bodyCharsMax)
  const media = readMediaDescriptor(content, key)
  return { ...source, type: read.type, body, isCleaned: source.isCleaned || body !== read.body, media }
}

/** For a message whose plaintext cannot be decoded. */
export function readUndecodable(key: WAMessageKey): Received | undefined {
  const source = readSource(key)
  return source && { ...source, type: 'other', body: null, isCleaned: true }
}

/** Undefined for messages that are not from a contact. */
export function readSource({
  id,
  fromMe,
  remoteJid,
  remoteJidAlt,
}: WAMessageKey): (ReceivedSource & Pick<Received, 'isCleaned'>) | undefined {
  if (!id || fromMe || !remoteJid || isJidGroup(remoteJid)) return undefined
  const waId = cleanId(id)
  const told = readAddresses(remoteJid, remoteJidAlt)
  const number = told.number && cleanText(told.number, addressCharsMax)
  const contactJid = told.contactJid && cleanText(told.contactJid, addressCharsMax)
  const isCleaned = waId !== id || number !== told.number || contactJid !== told.contactJid
  return { waId, number, contactJid, isCleaned }
}

/** Of the two addresses of a contact, the phone number, if WhatsApp gives it, and the other one. */
function readAddresses(
  jid: string,
  alternative: string | undefined,
): Pick<ReceivedSource, 'number' | 'contactJid'> {
  const given = [jid, alternative].flatMap((address) => jidDecode(address) ?? [])
  const phone = given.find(({ server }) => server === 's.whatsapp.net' || server === 'hosted')
  const other = given.find((address) => address !== phone)
  const isLid = other?.server === 'lid' || other?.server === 'hosted.lid'
  const contactJid = other ? `${other.user}@${isLid ? 'lid' : other.server}` : null
  return { number: phone?.user ?? null, contactJid: contactJid ?? (phone ? null : jid) }
}

/** Postgres refuses U+0000, and UTF-8 cannot encode half a surrogate pair. */
function cleanText(text: string, charsMax: number): string {
  return text.replaceAll('\0', '').slice(0, charsMax).toWellFormed()
}

/** The contact's client chooses the id. An unusual one is replaced by its hash, which is just as unique. */
function cleanId(id: string): string {
  return /^[!-~]{1,128}$/.test(id) ? id : `sha256:${createHash('sha256').update(id, 'utf16le').digest('hex')}`
}

type Content = NonNullable<ReturnType<typeof normalizeMessageContent>>

/** Undefined for content that is not a message to a person: keys, protocol messages, reactions. */
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
