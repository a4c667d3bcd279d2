import { receivedKey } from '../network/chat.ts'
import { deliver, receiptKey } from '../network/device.ts'
import { userJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { type Node, node, nowSeconds } from '../wire/node.ts'
import type { Arrival } from './arrival.ts'
import { handsetBundle } from './signal.ts'

// Clients also stop resending after five attempts.
const attemptsMax = 5

/** Asks the sender to re-encrypt a message, and sends it new keys to do so. */
export function requestRetry(network: Network, phone: Phone, arrival: Arrival): void {
  const { sender, id } = arrival
  const key = receivedKey(sender.phone.number, id)
  const count = (phone.retries.get(key) ?? 0) + 1
  if (count > attemptsMax) return
  phone.retries.set(key, count)
  const [registration, ...keys] = handsetBundle(phone)
  if (!registration) return
  network.state.sessionsChanged(phone)
  const isOwn = sender.phone === phone
  const from = userJid(isOwn ? arrival.handsetJid : arrival.to)
  const recipient = isOwn ? userJid(arrival.to) : undefined
  const t = nowSeconds()
  const receipt = node('receipt', { from, id, t, type: 'retry', recipient }, [
    node('retry', { count: count.toString(), id, t, v: '1' }),
    registration,
    node('keys', {}, keys),
  ])
  deliver(sender, receiptKey(from, id, 'retry'), receipt)
}

export const claimedReceipts = ['read', 'played', 'retry'] as const
type ClaimedReceipt = (typeof claimedReceipts)[number]

/** `from` and `bundle`: address and keys of the device that sends it. */
type Claim = { to: Phone; id: string; type: ClaimedReceipt; from: string; bundle: Node[] }

/** Sends a receipt for any message, also for one that the device never received. */
export function claimReceipt(network: Network, phone: Phone, { to, id, type, from, bundle }: Claim): void {
  const [registration, ...keys] = bundle
  if (!registration) return
  const key = receivedKey(to.number, id)
  const count = (phone.retries.get(key) ?? 0) + 1
  phone.retries.set(key, count)
  const t = nowSeconds()
  const request = [
    node('retry', { count: count.toString(), id, t, v: '1' }),
    registration,
    node('keys', {}, keys),
  ]
  const receipt = node('receipt', { from, id, t, type }, type === 'retry' ? request : undefined)
  network.state.sessionsChanged(phone)
  for (const device of to.devices.values()) deliver(device, receiptKey(from, id, type), receipt)
}
