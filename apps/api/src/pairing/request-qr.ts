import type { QrEvent } from '@wagate/shared/device-events'
import type { Call } from '../calls/call.ts'
import { awaitPairing } from './await-pairing.ts'
import { throwPairingUnavailable } from './pairing-errors.ts'

/** Asks the owner of the device for a QR code and waits for it. Throws as `awaitPairing` does. */
export function requestQr(call: Call, deviceId: number, { force }: { force: boolean }): Promise<QrEvent> {
  return awaitPairing(call, deviceId, {
    what: 'QR code',
    force,
    read: (event) => (event.kind === 'qr' ? event : undefined),
    findEarlier: () => call.context.events.devices.findQr(deviceId).catch(throwPairingUnavailable),
  })
}
