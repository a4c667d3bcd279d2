import type { Fault } from '../network/faults.ts'
import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { removeDevice } from './remove-device.ts'
import { streamError } from './stream-error.ts'

/** Breaks the connection of a companion as the fault specifies. */
export function breakConnection(network: Network, device: Device, fault: Fault): void {
  const { connection } = device
  if (!connection) return
  if (fault.kind === 'drop') connection.terminate()
  else if (fault.kind === 'half_open') connection.goHalfOpen()
  // A client deletes its credentials on 401, so the companion is removed here too.
  else if (fault.code === '401') removeDevice(network, device)
  else streamError(connection, fault.code ?? '500')
}
