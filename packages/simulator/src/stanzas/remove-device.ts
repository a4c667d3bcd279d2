import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { announceDevice } from './announce-changes.ts'
import { streamError } from './stream-error.ts'

/** Unlinks a companion. It is told at once if it is connected, otherwise at its next login. */
export function removeDevice(network: Network, device: Device, code = 'device_removed'): void {
  device.phone.devices.delete(device.id)
  network.state.save(device.phone)
  announceDevice(network, 'remove', device)
  if (device.connection) streamError(device.connection, code)
}
