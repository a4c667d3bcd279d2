import type { PairingCodeEvent } from '@wagate/shared/device-events'
import type { Call } from '../calls/call.ts'
import { awaitPairing } from './await-pairing.ts'
import { pairingCodeRefused } from './pairing-errors.ts'

/**
 * Asks the owner of the device for a pairing code and waits for it. Throws as `awaitPairing` does, or
 * `pairing_code_refused`.
 */
export function requestPairingCode(
  call: Call,
  deviceId: number,
  { force }: { force: boolean },
): Promise<PairingCodeEvent> {
  return awaitPairing(call, deviceId, {
    what: 'pairing code',
    force,
    read(event) {
      if (event.kind === 'pairing-code-refused') throw pairingCodeRefused(event.error)
      return event.kind === 'pairing-code' ? event : undefined
    },
    async findEarlier() {
      // It is lost if the owner dies or does not show a QR code yet.
      call.context.notify.enqueueCommand({ kind: 'request-pairing-code', deviceId })
      return undefined
    },
  })
}
