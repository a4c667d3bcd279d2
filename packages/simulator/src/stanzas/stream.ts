import { sendPending } from '../network/device.ts'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { type Node, node } from '../wire/node.ts'
import { pushHistory } from './history-push.ts'

const unaskedMs = 2000

/** The client is ready for offline stanzas: announces how many there are, also when there are none. */
export function announceOffline(network: Network, device: Device): void {
  const queued = offlineStanzas(device)
  if (queued.length === 0) {
    startStream(network, device, 0)
    return
  }
  // Not every client requests them.
  const { connection } = device
  setTimeout(() => {
    if (connection && device.connection === connection && device.sentAtMs.size === 0) {
      sendOffline(network, device, 0)
    }
  }, unaskedMs).unref()
  const count = (tag: string): string => queued.filter((stanza) => stanza.tag === tag).length.toString()
  device.connection?.send(
    node('ib', { from: serverJid }, [
      node('offline_preview', {
        count: queued.length.toString(),
        message: count('message'),
        receipt: count('receipt'),
        notification: count('notification'),
        appdata: '0',
      }),
    ]),
  )
}

/** Sends the announced stanzas: all of them, or with `offline_parts` as many as the client requested. */
export function sendOffline(network: Network, device: Device, count: number): void {
  if (device.active) return
  const isInParts = network.faults.find('offline_parts', device.phone.number) !== undefined
  const queued = [...device.pending].filter(([key, stanza]) => isOffline(stanza) && !device.sentAtMs.has(key))
  const part = isInParts && count > 0 ? queued.slice(0, count) : queued
  for (const [index, [key, stanza]] of part.entries()) sendPending(device, key, asOffline(stanza, index))
  if (part.length === queued.length) startStream(network, device, part.length)
}

/** Without the history: if it is still due, it is pushed again. */
function offlineStanzas(device: Device): Node[] {
  return [...device.pending.values()].filter(isOffline)
}

function isOffline({ attrs }: Node): boolean {
  return attrs.category !== 'peer'
}

function startStream(network: Network, device: Device, offlineCount: number): void {
  // Without this the client delays all events.
  device.connection?.send(
    node('ib', { from: serverJid }, [node('offline', { count: offlineCount.toString() })]),
  )
  device.active = true
  for (const tell of device.whenActive.splice(0)) tell()
  if (!device.historyReceived) void pushHistory(network, device).catch(network.reportFailure)
}

function asOffline(stanza: Node, index: number): Node {
  return { ...stanza, attrs: { ...stanza.attrs, offline: index.toString() } }
}
