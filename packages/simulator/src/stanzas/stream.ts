import type { Device } from '../network/device.ts'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import { type Node, node } from '../wire/node.ts'
import { pushHistory } from './history-push.ts'

/** The client is ready for what happened while it was away: announce it, or say that there is nothing. */
export function announceOffline(network: Network, device: Device): void {
  const queued = [...device.pending.values()]
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
  let sent = 0
  for (const stanza of device.pending.values()) device.connection?.send(asOffline(stanza, sent++))
  startStream(network, device, sent)
}

function startStream(network: Network, device: Device, offlineCount: number): void {
  // Without this the client holds back all events.
  device.connection?.send(
    node('ib', { from: serverJid }, [node('offline', { count: offlineCount.toString() })]),
  )
  device.active = true
  for (const tell of device.whenActive.splice(0)) tell()
  if (!device.historyPushed) void pushHistory(network, device)
}

function asOffline(stanza: Node, index: number): Node {
  return { ...stanza, attrs: { ...stanza.attrs, offline: index.toString() } }
}
