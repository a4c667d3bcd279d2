import type { Node } from '../wire/node.ts'
import { evictOldest } from './evict-oldest.ts'
import { lidJid, pnJid } from './jid.ts'
import type { Device } from './phone.ts'

const pendingMax = 20_000

export function makeDevice(
  linked: Pick<
    Device,
    | 'phone'
    | 'id'
    | 'platform'
    | 'wantsFullHistory'
    | 'readsInlineHistory'
    | 'linkedAt'
    | 'noiseKey'
    | 'bundle'
  >,
  kept: Pick<Device, 'preKeys' | 'historyReceived'> = { preKeys: new Map(), historyReceived: false },
): Device {
  return {
    ...linked,
    ...kept,
    connection: undefined,
    active: false,
    isAnnounced: false,
    handout: undefined,
    pending: new Map(),
    sentAtMs: new Map(),
    lastMessage: undefined,
    logins: { ok: 0, refused: 0 },
    refused: new Set(),
    whenActive: [],
  }
}

export const deviceJid = (device: Device): string => pnJid(device.phone.number, device.id)
export const deviceLid = (device: Device): string => lidJid(device.phone.number, device.id)

/** Sends now if the client is active, and keeps the stanza until it is acknowledged. */
export function deliver(device: Device, key: string, stanza: Node): void {
  device.pending.set(key, stanza)
  if (stanza.tag === 'message') device.lastMessage = { key, stanza }
  const evicted = evictOldest(device.pending, pendingMax)
  if (evicted !== undefined) acknowledge(device, evicted)
  if (device.active) sendPending(device, key, stanza)
}

export function sendPending(device: Device, key: string, stanza: Node): void {
  device.sentAtMs.set(key, performance.now())
  device.connection?.send(stanza)
}

/** An acknowledged stanza is not sent again. Returns whether it had been refused. */
export function acknowledge(device: Device, key: string): boolean {
  device.pending.delete(key)
  device.sentAtMs.delete(key)
  return device.refused.delete(key)
}

export const messageKey = (id: string): string => `message ${id}`

export function receiptKey(from: string, id: string, type: string | undefined): string {
  return `receipt ${from} ${id} ${type ?? ''}`
}

export const callKey = (id: string): string => `call ${id}`

export const notificationKey = (id: string): string => `notification ${id}`
