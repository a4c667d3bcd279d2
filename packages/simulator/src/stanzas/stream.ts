import { sendPending } from '../network/device.ts'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { type Node, node } from '../wire/node.ts'
import { pushHistory } from './history-push.ts'

/** How long stanzas that come after a login wait for a client that does not request what came before. */
const liveAfterMs = 3000

/** The client takes stanzas from now on: says how many have waited, and hands out what it need not request. */
export function activate(network: Network, device: Device): void {
  const isServed = device.active || device.handout !== undefined
  if (isServed) return
  device.isAnnounced = true
  const due = new Map(
    [...device.pending].filter(([key, stanza]) => isOffline(stanza) && !device.sentAtMs.has(key)),
  )
  device.handout = { due: new Set(due.keys()), sent: 0 }
  if (due.size > 0) device.connection?.send(preview([...due.values()]))
  const { inParts, size } = modeOf(network, device)
  handOut(network, device, inParts ? (size ?? 0) : due.size)
  if (!device.handout) return
  const { connection } = device
  setTimeout(() => {
    if (device.connection === connection && device.handout) goLive(network, device)
  }, liveAfterMs).unref()
}

/** The client takes no stanzas until it is active again. */
export function makePassive(device: Device): void {
  device.active = false
  device.handout = undefined
}

/** The client requests the next part. */
export function sendOffline(network: Network, device: Device, count: number): void {
  const { inParts, size } = modeOf(network, device)
  const asked = inParts && count > 0 ? count : Number.POSITIVE_INFINITY
  handOut(network, device, Math.min(asked, size ?? asked))
}

/** What held back the others was acknowledged after all. */
export function resumeOffline(network: Network, device: Device): void {
  if (!modeOf(network, device).inParts) handOut(network, device, Number.POSITIVE_INFINITY)
}

/** By default all together. With the fault `offline_parts`, a part for each request. */
function modeOf(network: Network, device: Device): { inParts: boolean; size?: number | undefined } {
  const fault = network.faults.find('offline_parts', device.phone.number)
  return { inParts: fault !== undefined, size: fault?.size }
}

function handOut(network: Network, device: Device, countMax: number): void {
  const { handout } = device
  if (!handout) return
  const keys = keysToHandOut(device)
  const part = keys.slice(0, countMax)
  for (const key of part) {
    const stanza = device.pending.get(key)
    if (stanza) sendPending(device, key, asOffline(stanza, handout.sent++))
  }
  if (part.length < keys.length || isHeldBack(device)) return
  device.handout = undefined
  // Without this the client delays all events.
  device.connection?.send(
    node('ib', { from: serverJid }, [node('offline', { count: handout.sent.toString() })]),
  )
  goLive(network, device)
}

/** What was not sent since the login, in order. Until the client is active, what comes after the login is part of it. */
function keysToHandOut(device: Device): string[] {
  const chosen = isHeldBack(device) ? device.refused : device.pending.keys()
  return [...chosen].filter((key) => {
    const stanza = device.pending.get(key)
    return stanza !== undefined && isOffline(stanza) && !device.sentAtMs.has(key)
  })
}

function isHeldBack({ refused }: Device): boolean {
  return refused.size > 0
}

/** From now on stanzas are sent as they come. */
function goLive(network: Network, device: Device): void {
  if (device.active) return
  device.active = true
  for (const tell of device.whenActive.splice(0)) tell()
  const due = device.handout?.due
  for (const [key, stanza] of device.pending) {
    const isDue = isOffline(stanza) ? !due?.has(key) : device.historyReceived
    if (isDue && !device.sentAtMs.has(key)) sendPending(device, key, stanza)
  }
  if (!device.historyReceived) void pushHistory(network, device).catch(network.reportFailure)
}

/** Not the history: if it is still due, it is pushed again. */
function isOffline({ attrs }: Node): boolean {
  return attrs.category !== 'peer'
}

function preview(queued: Node[]): Node {
  const count = (tag: string): string => queued.filter((stanza) => stanza.tag === tag).length.toString()
  return node('ib', { from: serverJid }, [
    node('offline_preview', {
      count: queued.length.toString(),
      message: count('message'),
      receipt: count('receipt'),
      notification: count('notification'),
      appdata: '0',
    }),
  ])
}

function asOffline(stanza: Node, index: number): Node {
  return { ...stanza, attrs: { ...stanza.attrs, offline: index.toString() } }
}
