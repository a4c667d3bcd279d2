import { randomBytes } from 'node:crypto'
import { encodeWAMessage } from 'baileys'
import { addReceived, addSent } from '../network/chat.ts'
import { deliver, messageKey } from '../network/device.ts'
import { pnJid } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import { noteChat } from '../network/new-chats.ts'
import { askForPreKeys } from '../network/notify.ts'
import type { Device, Phone } from '../network/phone.ts'
import { node, nowSeconds } from '../wire/node.ts'
import { compose, type Written } from './compose.ts'
import { stanzaTypeOf } from './compose-kind.ts'
import { sendReceipt } from './inbox.ts'
import { returnAddress } from './return-address.ts'
import { encryptFor } from './signal.ts'

/** Sends a message from this phone. Resolves to its id when it has been sent to all companions. */
export async function sendFromHandset(
  network: Network,
  phone: Phone,
  to: string,
  written: Written,
): Promise<string> {
  const id = newMessageId()
  const composed = await compose(network, phone, to, written)
  const { message, shown, media, mediaType, isHiddenFromCompanions } = composed
  const kept = media && { media }
  const plaintext = Buffer.from(encodeWAMessage(message))
  const stanzaType = stanzaTypeOf(message)
  const unavailable = isHiddenFromCompanions ? 'view_once' : undefined
  const now = new Date().toISOString()
  const { sha256: _, ...sent } = shown
  addSent(phone.chat, { wa_message_id: id, to, ...sent, sent_at: now, status: 'sent', plaintext, ...kept })

  const recipient = phoneOf(network, to)
  if (recipient !== phone) {
    addReceived(recipient.chat, {
      message: {
        wa_message_id: id,
        from: phone.number,
        ...shown,
        received_at: now,
        duplicates: 0,
      },
      origin: { number: phone.number, device: 0, addressedAs: pnJid(to) },
      read: false,
      ...kept,
    })
    noteChat(phone, recipient)
    for (const device of recipient.devices.values())
      await sendToDevice(network, phone, device, { id, plaintext, mediaType, stanzaType, unavailable })
  }
  const copy = { deviceSentMessage: { destinationJid: pnJid(to), message } }
  for (const device of phone.devices.values()) {
    const padded = Buffer.from(encodeWAMessage(copy))
    await sendToDevice(network, phone, device, {
      id,
      plaintext: padded,
      mediaType,
      stanzaType,
      unavailable,
      recipient: pnJid(to),
    })
  }
  if (recipient !== phone) confirm(network, phone, recipient, id)
  return id
}

/** The phone of the recipient confirms to the account, so all companions of the sender learn it. */
function confirm(network: Network, phone: Phone, recipient: Phone, id: string): void {
  if (network.faults.strike('no_receipts', phone.number, recipient.number)) return
  markSent(phone, id, 'delivered')
  if (phone.devices.size === 0) return
  const { from } = returnAddress(network, recipient, phone.number, 'pn')
  for (const device of phone.devices.values()) sendReceipt(network, device, { from, id })
}

export type Outgoing = {
  id: string
  plaintext: Buffer
  /** Of its file, such as `image`. */
  mediaType?: string | undefined
  stanzaType?: string | undefined
  /** Why the device is sent only the news of it. */
  unavailable?: string | undefined
  recipient?: string
  retryCount?: string
}

export async function sendToDevice(
  network: Network,
  phone: Phone,
  device: Device,
  { id, plaintext, mediaType, stanzaType, unavailable, recipient, retryCount }: Outgoing,
): Promise<void> {
  const preKeysBefore = device.preKeys.size
  const { type, body } = await encryptFor(phone, device, plaintext)
  network.state.sessionsChanged(phone)
  if (device.preKeys.size < preKeysBefore) askForPreKeys(network, device)
  const { number } = device.phone
  const isOwn = device.phone === phone
  const wroteTo = !isOwn && phone.lidContacts.has(number) ? 'lid' : 'pn'
  const attrs = {
    ...returnAddress(network, phone, number, wroteTo),
    id,
    t: nowSeconds(),
    type: mediaType ? 'media' : (stanzaType ?? 'text'),
    notify: phone.hidesNumber ? (phone.username ?? '') : `+${phone.number}`,
    username: isOwn ? undefined : phone.username,
    recipient,
  }
  const { faults } = network
  const kept = unavailable ? { code: unavailable } : faults.strike('unavailable', phone.number, number)
  if (faults.strike('garble', phone.number, number)) garble(body)
  const content = kept
    ? node('unavailable', { type: kept.code })
    : node('enc', { v: '2', type, mediatype: mediaType, count: retryCount }, body)
  deliver(device, messageKey(id), node('message', attrs, [content]))
}

/** Of either form of a message: bytes of what is encrypted or of its signature. */
function garble(body: Uint8Array): void {
  for (let at = body.length - 24; at < body.length - 8; at++) body[at] = (body[at] ?? 0) ^ 1
}

export function markSent(phone: Phone, id: string, status: 'delivered' | 'read'): void {
  const sent = phone.chat.sent.get(id)
  if (sent && sent.status !== 'read') sent.status = status
}

export const newMessageId = (): string => `3EB0${randomBytes(9).toString('hex').toUpperCase()}`
