import { expect, test } from 'vitest'
import { intentOf } from '../src/device/plan.ts'

test.each([
  // isLinked, hasStoredCreds, isPairing, isRemovable
  [true, true, false, false, 'connect'],
  [true, true, true, false, 'connect'],
  // A logout, a revoked link, or a phone with another number: undone first, before all other requests.
  [false, true, false, false, 'log-out'],
  [false, true, true, false, 'log-out'],
  [false, true, false, true, 'log-out'],
  [false, false, true, false, 'pair'],
  [false, false, false, true, 'remove'],
  [false, false, false, false, 'rest'],
] as const)(
  'linked %s, credentials %s, pairing %s, removable %s: %s',
  (isLinked, hasStoredCreds, isPairing, isRemovable, intent) => {
    const isAccountDisabled = false
    expect(intentOf({ isLinked, hasStoredCreds, isPairing, isRemovable, isAccountDisabled })).toBe(intent)
  },
)

test.each([
  [true, true, false, false, 'suspend'],
  [true, true, true, false, 'suspend'],
  // Only a login can undo a link, and nothing is sent before it is undone.
  [false, true, false, false, 'log-out'],
  [false, true, false, true, 'log-out'],
  [false, false, true, false, 'rest'],
  [false, false, false, true, 'remove'],
  [false, false, false, false, 'rest'],
] as const)(
  'of a disabled account: linked %s, credentials %s, pairing %s, removable %s: %s',
  (isLinked, hasStoredCreds, isPairing, isRemovable, intent) => {
    const isAccountDisabled = true
    expect(intentOf({ isLinked, hasStoredCreds, isPairing, isRemovable, isAccountDisabled })).toBe(intent)
  },
)

test('a device that no longer exists is left alone', () => {
  expect(intentOf(undefined)).toBe('rest')
})
