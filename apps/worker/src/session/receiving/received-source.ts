import { createHash } from 'node:crypto'
import { type BinaryNode, isJidGroup, jidDecode, type WAMessageKey } from 'baileys'
import { cleanText } from './cleaner.ts'

/** What identifies a message among all of a device. */
export type ReceivedSource = {
  waId: string
  /** Null when WhatsApp gives only another address. */
  number: string | null
  /** The address that is not the number: a LID, if it is known. */
  contactJid: string | null
  /** Where the account itself has written it: the contact is who it was written to. Undefined for what a contact has written. */
  writtenOn?: WrittenOn | undefined
}

export type WrittenOn = 'phone' | 'companion'

const addressCharsMax = 64
const nameCharsMax = 100
const clockDifferenceMs = 600_000

/** Undefined for messages that are not from a contact. `isCleaned`: parts were replaced. */
export function readSource({
  id,
  fromMe,
  remoteJid,
  remoteJidAlt,
}: WAMessageKey): (ReceivedSource & { isCleaned: boolean }) | undefined {
  return fromMe ? undefined : sourceOf(id, remoteJid, remoteJidAlt)
}

/** As `readSource`, for a message that the account itself has written elsewhere. */
export function readOwnSource(
  { id, fromMe, remoteJid }: WAMessageKey,
  writtenOn: WrittenOn,
): (ReceivedSource & { isCleaned: boolean }) | undefined {
  // The other address of the key is that of the account.
  const source = fromMe ? sourceOf(id, remoteJid, undefined) : undefined
  return source && { ...source, writtenOn }
}

function sourceOf(
  id: WAMessageKey['id'],
  remoteJid: WAMessageKey['remoteJid'],
  remoteJidAlt: string | undefined,
): (ReceivedSource & { isCleaned: boolean }) | undefined {
  if (!id || !remoteJid || isJidGroup(remoteJid)) return undefined
  const waId = cleanId(id)
  const told = readAddresses(remoteJid, remoteJidAlt)
  const number = told.number && cleanText(told.number, addressCharsMax)
  const contactJid = told.contactJid && cleanText(told.contactJid, addressCharsMax)
  const isCleaned = waId !== id || number !== told.number || contactJid !== told.contactJid
  return { waId, number, contactJid, isCleaned }
}

/** The user name of the contact that sent a stanza. WhatsApp Web knows the first of these attributes from others. */
export function readUsername({ attrs }: BinaryNode): string | null {
  const username = attrs.username ?? attrs.sender_username ?? attrs.participant_username
  return username ? cleanText(username, addressCharsMax) : null
}

/** The name that the author of a stanza has given itself. */
export function readPushName({ attrs }: BinaryNode): string | null {
  return (attrs.notify && cleanText(attrs.notify, nameCharsMax)) || null
}

/** When a message was written, in ISO 8601. WhatsApp gives seconds. Null for what is no time, or one that is not over. */
export function readTime(seconds: number): string | null {
  const ms = seconds * 1000
  return ms > 0 && ms <= Date.now() + clockDifferenceMs
    ? new Date(Math.min(ms, Date.now())).toISOString()
    : null
}

/** Of the two addresses of a contact, the phone number, if WhatsApp gives it, and the other one. */
function readAddresses(jid: string, alternative: string | undefined): Omit<ReceivedSource, 'waId'> {
  const given = [jid, alternative].flatMap((address) => jidDecode(address) ?? [])
  const phone = given.find(({ server }) => server === 's.whatsapp.net' || server === 'hosted')
  const other = given.find((address) => address !== phone)
  const isLid = other?.server === 'lid' || other?.server === 'hosted.lid'
  const contactJid = other ? `${other.user}@${isLid ? 'lid' : other.server}` : null
  return { number: phone?.user ?? null, contactJid: contactJid ?? (phone ? null : jid) }
}

/** The contact's client chooses the id. An unusual one is replaced by its hash, which is just as unique. */
export function cleanId(id: string): string {
  return /^[!-~]{1,128}$/.test(id) ? id : `sha256:${createHash('sha256').update(id, 'utf16le').digest('hex')}`
}
