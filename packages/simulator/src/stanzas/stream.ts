import type { Device } from '../network/device.ts'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import { type Node, node } from '../wire/node.ts'
import { pushHistory } from './history-push.ts'

/** The client is ready for what happened while it was away: announce it, or say that there is nothing. */
export function announceOffline(network: Network, device: Device): void {
  const queued = offlineStanzas(device)
  if (queued.length === 0) {
    startStream(network, device, 0)
    return
  }
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

/** The client asked for the announced stanzas. Batches are not kept apart: it gets all of them. */
export function sendOffline(network: Network, device: Device): void {
  if (device.active) return
  const queued = offlineStanzas(device)
  for (const [index, stanza] of queued.entries()) device.connection?.send(asOffline(stanza, index))
  startStream(network, device, queued.length)
}

/** The history is not among them: if it is still due, it is pushed afresh. */
function offlineStanzas(device: Device): Node[] {
  return [...device.pending.values()].filter((stanza) => stanza.attrs.category !== 'peer')
}

function startStream(network: Network, device: Device, offlineCount: number): void {
  // Without this the client holds back all events.
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
