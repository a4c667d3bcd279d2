import { randomBytes } from 'node:crypto'
import { type Node, node, nowSeconds } from '../wire/node.ts'
import { deliver, notificationKey } from './device.ts'
import { serverJid } from './jid.ts'
import type { Network } from './network.ts'
import type { Device } from './phone.ts'

type Attributes = { from: string; type: string; id?: string; lid?: string; sender_lid?: string }

// A client uploads more when the server says that fewer than five are left.
const fewPreKeys = 4

export const newId = (): string => randomBytes(8).toString('hex').toUpperCase()

/** Sends a companion a notification, again at each login until it is acknowledged. */
export function notify(device: Device, attributes: Attributes, content: Node[]): void {
  const { id = newId() } = attributes
  deliver(device, notificationKey(id), node('notification', { ...attributes, id, t: nowSeconds() }, content))
}

/** To be called whenever a one-time key of a companion was used. */
export function askForPreKeys(network: Network, device: Device): void {
  network.state.keysChanged(device.phone)
  if (device.preKeys.size !== fewPreKeys) return
  notify(device, { from: serverJid, type: 'encrypt' }, [
    node('count', { value: device.preKeys.size.toString() }),
  ])
}
