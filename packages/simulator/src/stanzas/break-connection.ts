import type { Fault } from '../network/faults.ts'
import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { removeDevice } from './remove-device.ts'
import { streamError } from './stream-error.ts'

/** Breaks the connection of a companion in the way the fault asks for. */
export function breakConnection(network: Network, device: Device, fault: Fault): void {
  const { connection } = device
  if (!connection) return
  if (fault.kind === 'drop') connection.terminate()
  else if (fault.kind === 'half_open') connection.goHalfOpen()
  // A client that is told 401 throws its credentials away, so the companion is gone on this side too.
  else if (fault.code === '401') removeDevice(network, device)
  else streamError(connection, fault.code ?? '500')
}
