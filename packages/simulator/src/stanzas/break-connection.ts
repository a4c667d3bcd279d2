import type { Fault } from '../network/faults.ts'
import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { removeDevice } from './remove-device.ts'
import { endStream } from './stream-error.ts'

/** Breaks the connection of a companion as the fault specifies. */
export function breakConnection(network: Network, device: Device, fault: Fault): void {
  const { connection } = device
  if (!connection) return
  if (fault.kind === 'drop') connection.terminate()
  else if (fault.kind === 'half_open') connection.goHalfOpen()
  // The client logs in again, and is refused.
  else if (fault.kind === 'login_failure') connection.close()
  // A client deletes its credentials on these, so the companion is removed here too.
  else if (fault.code === '401' || fault.code === 'device_removed') removeDevice(network, device)
  else if (fault.code === '516') removeDevice(network, device, fault.code)
  else endStream(device, connection, fault.code ?? '500')
}
