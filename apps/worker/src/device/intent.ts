import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'

/** What the owner should be doing for a device. */
export type Intent = 'connect' | 'suspend' | 'log-out' | 'pair' | 'remove' | 'rest'

type Facts = Pick<
  DeviceState,
  'isLinked' | 'hasStoredCreds' | 'isPairing' | 'isRemovable' | 'isAccountDisabled'
>

/**
 * Depends on nothing but what Postgres says, so an owner that takes over in the middle of a logout, of a refused link,
 * of a pairing or of a removal finishes it.
 */
export function intentOf(facts: Facts | undefined): Intent {
  if (!facts) return 'rest'
  if (facts.hasStoredCreds) {
    if (!facts.isLinked) return 'log-out'
    return facts.isAccountDisabled ? 'suspend' : 'connect'
  }
  if (facts.isRemovable) return 'remove'
  return facts.isPairing && !facts.isAccountDisabled ? 'pair' : 'rest'
}
