import type { Network } from '../network/network.ts'
import type { Pairing } from '../network/pairing.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { refuserOf } from '../network/web-version.ts'

/** Throws what the person sees when the phone refuses to link a client that is too old. */
export function checkClientVersion({ webVersion }: Network, { version }: Pairing): void {
  if (refuserOf(webVersion, version) === undefined) return
  throw new SimulatorError(
    "Couldn't link device. Its version of WhatsApp Web is older than WhatsApp allows. Update it, and scan its new code.",
  )
}
