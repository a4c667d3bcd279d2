import type { Network } from '../network/network.ts'
import { type Phone, renewIdentity } from '../network/phone.ts'
import { announceIdentity } from './announce-changes.ts'
import { removeDevice } from './remove-device.ts'

/** WhatsApp is installed again on a phone, which keeps its number and its chats. */
export function reinstall(network: Network, phone: Phone): void {
  for (const device of [...phone.devices.values()]) removeDevice(network, device)
  renewIdentity(phone)
  network.state.save(phone)
  network.state.sessionsChanged(phone)
  announceIdentity(network, phone)
}
