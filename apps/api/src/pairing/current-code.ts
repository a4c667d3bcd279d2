import type { Pairing } from '@wagate/db/queries/devices/device-desired-state'

/** What the owner of the device gave out when its lease had `epoch`. */
export type Code = { epoch: number; expiresAtMs: number }

/** Whether the present owner gave it out and it is still valid: one of a former owner links nothing. */
export function isCurrent<Found extends Code>(
  found: Found | undefined,
  pairing: Pick<Pairing, 'epoch'>,
): found is Found {
  return found?.epoch === pairing.epoch && found.expiresAtMs > Date.now()
}

/** The same for a QR code that Redis still has: it may have been scanned since, or its connection has ended. */
export function isShown<Found extends Code>(
  found: Found | undefined,
  pairing: Pick<Pairing, 'epoch' | 'isScanning'>,
): found is Found {
  return pairing.isScanning && isCurrent(found, pairing)
}
