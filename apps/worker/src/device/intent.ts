import type { DeviceState } from '@wagate/db/queries/device-state'

/** What the owner should be doing for a device. */
export type Intent = 'connect' | 'log-out' | 'pair' | 'rest'

type Facts = Pick<DeviceState, 'isLinked' | 'hasStoredCreds' | 'isPairing'>

/**
 * The same answer whoever asks and however often: an owner that takes over in the middle of a logout, of a
 * refused link or of a pairing goes on with it.
 */
export function intentOf(facts: Facts | undefined): Intent {
  if (!facts) return 'rest'
  if (facts.hasStoredCreds) return facts.isLinked ? 'connect' : 'log-out'
  return facts.isPairing ? 'pair' : 'rest'
}
