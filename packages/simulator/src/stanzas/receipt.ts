import { uploadAgain } from '../handset/media-retry.ts'
import { markSent, sendToDevice } from '../handset/outbox.ts'
import { renewSession } from '../handset/signal.ts'
import { receivedKey } from '../network/chat.ts'
import { acknowledge, callKey, deliver, messageKey, notificationKey, receiptKey } from '../network/device.ts'
import { lidJid, pnJid, statusJid } from '../network/jid.ts'
import { type Network, phoneOfJid } from '../network/network.ts'
import { askForPreKeys } from '../network/notify.ts'
import type { Device, Phone } from '../network/phone.ts'
import { bytes, child, children, type Node, node, nowSeconds, uint } from '../wire/node.ts'
import { readSignedPreKey } from './key-upload.ts'
import { resumeOffline } from './stream.ts'

// Between a phone and its own companions only.
const privateTypes = new Set(['peer_msg', 'hist_sync', 'sender', 'read-self', 'played-self', 'server-error'])

/** A companion has received, read or failed to decrypt messages. */
export function receiveReceipt(network: Network, device: Device, stanza: Node): void {
  const { id = '', to, type, recipient } = stanza.attrs
  device.connection?.send(node('ack', { class: 'receipt', id, from: to, type }))
  const listed = children(child(stanza, 'list'), 'item').map((item) => item.attrs.id ?? '')
  const ids = [id, ...listed]
  // Real servers also require an ack for each message.
  const isRefusedStatus = to === statusJid && type === 'retry'
  if (!isRefusedStatus && !network.faults.find('ack_required', device.phone.number)) {
    for (const got of ids) acknowledge(device, messageKey(got))
  }
  if (type === 'hist_sync' && !device.historyReceived) {
    device.historyReceived = true
    network.state.save(device.phone)
  }
  if (type === 'server-error') uploadAgain(network, device, stanza)
  const origin = phoneOfJid(network, to)
  if (origin && (type === 'read' || type === 'read-self')) noteRead(device.phone, origin.phone, ids)
  if (!origin || (type && privateTypes.has(type))) return
  if (type === 'retry' && origin.device === 0) {
    void resend(network, origin.phone, device, stanza).catch(network.reportFailure)
    return
  }
  if (type !== 'retry') {
    for (const got of ids) markSent(origin.phone, got, type === 'read' ? 'read' : 'delivered')
  }
  // A read receipt names only the account, so it goes to all companions.
  const companions = [...origin.phone.devices.values()].filter(
    (other) => other !== device && (origin.device === 0 || other.id === origin.device),
  )
  const jidOf = to?.endsWith('@lid') ? lidJid : pnJid
  // Only a retry names the device: the resend goes to that device alone.
  const from = jidOf(device.phone.number, type === 'retry' ? device.id : 0)
  for (const companion of companions) {
    const attrs = { from, id, t: nowSeconds(), type: type === 'inactive' ? undefined : type, recipient }
    deliver(companion, receiptKey(from, id, attrs.type), { ...node('receipt', attrs), ...contentOf(stanza) })
  }
}

/** The phone shows what its companions have read as read. */
function noteRead(phone: Phone, from: Phone, ids: string[]): void {
  for (const id of ids) {
    const received = phone.chat.received.get(receivedKey(from.number, id))
    if (received) received.read = true
  }
}

/** An acknowledged stanza is not sent again, but a status that was refused is. */
export function receiveAck(network: Network, device: Device, stanza: Node): void {
  const { class: kind, id = '', to = '', type, error } = stanza.attrs
  if (kind === 'message') {
    const key = messageKey(id)
    if (error && to === statusJid && device.pending.has(key)) device.refused.add(key)
    else if (acknowledge(device, key)) resumeOffline(network, device)
  }
  if (kind === 'receipt') acknowledge(device, receiptKey(to, id, type))
  if (kind === 'notification') acknowledge(device, notificationKey(id))
  if (kind === 'call') acknowledge(device, callKey(id))
}

/** The companion could not decrypt: sends the same message over a new session, from the keys of the receipt if it has any. */
async function resend(network: Network, phone: Phone, device: Device, receipt: Node): Promise<void> {
  const id = receipt.attrs.id ?? ''
  const { plaintext, media, type } = phone.chat.sent.get(id) ?? {}
  const isOwn = device.phone === phone
  if (!plaintext || isOwn) return
  if (network.faults.strike('no_resends', phone.number, device.phone.number)) return
  network.counters.retries += 1
  adoptKeys(device, receipt)
  await renewSession(phone, device)
  askForPreKeys(network, device)
  const retryCount = child(receipt, 'retry')?.attrs.count ?? '1'
  await sendToDevice(network, phone, device, { id, plaintext, mediaType: media && type, retryCount })
}

function adoptKeys(device: Device, receipt: Node): void {
  const keys = child(receipt, 'keys')
  const identity = bytes(child(keys, 'identity'))
  const registrationId = uint(child(receipt, 'registration'))
  const signedPreKey = readSignedPreKey(child(keys, 'skey'))
  if (!identity || registrationId === undefined || !signedPreKey) return
  device.bundle = { identity, registrationId, signedPreKey }
  const preKey = child(keys, 'key')
  const preKeyId = uint(child(preKey, 'id'))
  const value = bytes(child(preKey, 'value'))
  if (preKeyId !== undefined && value) device.preKeys = new Map([[preKeyId, value], ...device.preKeys])
}

function contentOf(stanza: Node): Pick<Node, 'content'> {
  return stanza.content === undefined ? {} : { content: stanza.content }
}
