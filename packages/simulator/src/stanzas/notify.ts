import { deliver, notificationKey } from '../network/device.ts'
import type { Device } from '../network/phone.ts'
import { type Node, node, nowSeconds } from '../wire/node.ts'
import { newId } from './offer-link.ts'

type Attributes = { from: string; type: string; id?: string; lid?: string; sender_lid?: string }

/** Sends a companion a notification, again at each login until it is acknowledged. */
export function notify(device: Device, attributes: Attributes, content: Node[]): void {
  const { id = newId() } = attributes
  deliver(device, notificationKey(id), node('notification', { ...attributes, id, t: nowSeconds() }, content))
}
