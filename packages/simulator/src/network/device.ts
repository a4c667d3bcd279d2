import type { Connection } from '../wire/connection.ts'
import type { Node } from '../wire/node.ts'
import { lidJid, pnJid } from './jid.ts'
import type { Phone } from './phone.ts'

const pendingMax = 20_000

/** The public half of a Signal identity, as uploaded. */
export type KeyBundle = {
  registrationId: number
  identity: Buffer
  signedPreKey: { id: number; public: Buffer; signature: Buffer }
}

/** A linked companion of a phone: what WhatsApp's servers know of it. */
export type Device = {
  phone: Phone
  id: number
  platform: string
  linkedAt: string
  noiseKey: Buffer
  bundle: KeyBundle
  preKeys: Map<number, Buffer>
  /** The client has confirmed the history that follows its first login. */
  historyReceived: boolean
  connection: Connection | undefined
  /** Stanzas flow: false until the client has asked for them after its login. */
  active: boolean
  /** What the client has not acknowledged yet, in order; it is sent again at the next login. */
  pending: Map<string, Node>
  /** When each of them was sent over the present connection. */
  sentAtMs: Map<string, number>
  /** Called once, when the client has logged in and listens. */
  whenActive: Array<() => void>
}

export function makeDevice(
  linked: Pick<Device, 'phone' | 'id' | 'platform' | 'linkedAt' | 'noiseKey' | 'bundle'>,
  kept: Pick<Device, 'preKeys' | 'historyReceived'> = { preKeys: new Map(), historyReceived: false },
): Device {
  return {
    ...linked,
    ...kept,
    connection: undefined,
    active: false,
    pending: new Map(),
    sentAtMs: new Map(),
    whenActive: [],
  }
}

export const deviceJid = (device: Device): string => pnJid(device.phone.number, device.id)
export const deviceLid = (device: Device): string => lidJid(device.phone.number, device.id)

/** Sends now if the client listens, and keeps the stanza until it is acknowledged. */
export function deliver(device: Device, key: string, stanza: Node): void {
  device.pending.set(key, stanza)
  if (device.pending.size > pendingMax) {
    for (const oldest of device.pending.keys()) {
      settle(device, oldest)
      break
    }
  }
  if (device.active) sendPending(device, key, stanza)
}

export function sendPending(device: Device, key: string, stanza: Node): void {
  device.sentAtMs.set(key, performance.now())
  device.connection?.send(stanza)
}

/** The client is done with a stanza: it will not be sent again. */
export function settle(device: Device, key: string): void {
  device.pending.delete(key)
  device.sentAtMs.delete(key)
}

export const messageKey = (id: string): string => `message ${id}`

export function receiptKey(from: string, id: string, type: string | undefined): string {
  return `receipt ${from} ${id} ${type ?? ''}`
}

export const notificationKey = (id: string): string => `notification ${id}`
