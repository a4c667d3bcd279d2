import { proto, unpadRandomMax16 } from 'baileys'
import { addReceived, addSent, type KnownMedia, receivedKey } from '../network/chat.ts'
import { deliver, receiptKey } from '../network/device.ts'
import { isLid, userJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import { noteUnknown } from '../network/note-unknown.ts'
import type { Device, Phone } from '../network/phone.ts'
import { node, nowSeconds } from '../wire/node.ts'
import type { Arrival } from './arrival.ts'
import { type Description, describe, describeSealed, mediaOf } from './describe.ts'
import { requestRetry } from './retry.ts'
import { returnAddress } from './return-address.ts'
import { decryptFrom } from './signal.ts'

export function receiveAtHandset(network: Network, phone: Phone, arrival: Arrival): void {
  phone.inbox = phone.inbox.then(() => read(network, phone, arrival)).catch(network.reportFailure)
}

async function read(network: Network, phone: Phone, arrival: Arrival): Promise<void> {
  const isOwn = arrival.sender.phone === phone
  if (!network.decrypt) {
    if (!isOwn)
      accept(network, phone, arrival, { shown: describeSealed(arrival.stanzaType, arrival.mediaType) })
    return
  }
  const message = await decrypt(network, phone, arrival)
  if (!message) return
  if (isOwn) await noteSent(network, phone, arrival, message)
  else accept(network, phone, arrival, await open(network, message))
}

async function decrypt(
  network: Network,
  phone: Phone,
  arrival: Arrival,
): Promise<proto.IMessage | undefined> {
  const { sender, id, sealed } = arrival
  try {
    const plaintext = await decryptFrom(phone, sender.phone.number, sender.id, sealed)
    network.state.sessionsChanged(phone)
    const isResend = phone.retries.delete(receivedKey(sender.phone.number, id))
    if (isResend) network.counters.retries += 1
    return proto.Message.decode(unpadRandomMax16(plaintext))
  } catch {
    network.counters.undecryptable += 1
    requestRetry(network, phone, arrival)
    return undefined
  }
}

type Opened = { shown: Description; secret?: string | undefined; media?: KnownMedia | undefined }

async function open(network: Network, message: proto.IMessage): Promise<Opened> {
  const secret = message.messageContextInfo?.messageSecret
  return {
    shown: await describe(network, message),
    secret: secret ? Buffer.from(secret).toString('base64') : undefined,
    media: mediaOf(message),
  }
}

function accept(network: Network, phone: Phone, arrival: Arrival, { shown, secret, media }: Opened): void {
  const { sender, id, entry } = arrival
  const from = sender.phone.number
  if (shown.text !== null) entry.text = shown.text
  if (isLid(arrival.to)) phone.lidContacts.add(from)
  else phone.lidContacts.delete(from)
  const known = phone.chat.received.get(receivedKey(from, id))
  if (known) {
    known.message.duplicates += 1
    // Reactions and edits of the one who saw the other copy could not be read.
    if (known.secret !== secret)
      noteUnknown(network, { kind: 'resend with another message secret', sender: from })
  } else {
    addReceived(phone.chat, {
      message: { wa_message_id: id, from, ...shown, received_at: new Date().toISOString(), duplicates: 0 },
      origin: { number: from, device: sender.id, addressedAs: userJid(arrival.to) },
      read: false,
      secret,
      ...(media && { media }),
    })
  }
  if (network.faults.strike('no_receipts', from, phone.number)) return
  function confirm(): void {
    entry.receipt = true
    const wroteTo = isLid(arrival.to) ? 'lid' : 'pn'
    sendReceipt(network, sender, { from: returnAddress(network, phone, from, wroteTo).from, id })
  }
  // Not awaited, so that the next message does not wait for the ack of this one.
  if (arrival.acknowledged !== undefined) void arrival.acknowledged.then(confirm)
  else confirm()
}

/** The phone shows the messages of its companions like its own. */
async function noteSent(
  network: Network,
  phone: Phone,
  arrival: Arrival,
  message: proto.IMessage,
): Promise<void> {
  const { deviceSentMessage } = message
  if (!deviceSentMessage?.message) return
  const { sha256: _, ...shown } = await describe(network, deviceSentMessage.message)
  if (phone.chat.sent.has(arrival.id)) return
  const media = mediaOf(deviceSentMessage.message)
  addSent(phone.chat, {
    wa_message_id: arrival.id,
    to: arrival.entry.recipient,
    ...shown,
    sent_at: new Date().toISOString(),
    status: 'sent',
    ...(media && { media }),
  })
}

export function sendReceipt(
  network: Network,
  device: Device,
  receipt: { from: string; id: string; type?: 'read' },
): void {
  const { from, id, type } = receipt
  network.counters.receipts += 1
  deliver(device, receiptKey(from, id, type), node('receipt', { from, id, t: nowSeconds(), type }))
  const sent = device.phone.chat.sent.get(id)
  if (sent && sent.status !== 'read') sent.status = type ?? 'delivered'
}
