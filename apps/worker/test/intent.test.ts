import { expect, it } from 'vitest'
import { intentOf } from '../src/device/intent.ts'

it.each([
  // isLinked, hasStoredCreds, isPairing
  [true, true, false, 'connect'],
  [true, true, true, 'connect'],
  // A logout, a revoked link, or a phone with another number: undone first, whatever else is asked.
  [false, true, false, 'log-out'],
  [false, true, true, 'log-out'],
  [false, false, true, 'pair'],
  [false, false, false, 'rest'],
] as const)('linked %s, credentials %s, pairing %s: %s', (isLinked, hasStoredCreds, isPairing, intent) => {
  expect(intentOf({ isLinked, hasStoredCreds, isPairing })).toBe(intent)
})

it('does nothing for a device that is gone', () => {
  expect(intentOf(undefined)).toBe('rest')
})
