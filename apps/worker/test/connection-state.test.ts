import { expect, test } from 'vitest'
import {
  connecting,
  disconnected,
  initialState,
  isCompletingLink,
  opened,
  scanned,
} from '../src/device/connection-state.ts'

const [first, second] = [{ name: 'first' }, { name: 'second' }]

test('a link is being completed from the scan to its login, across the restart between them', () => {
  const pairing = connecting(initialState, 'pairing', first)
  expect(isCompletingLink(pairing)).toBe(false)
  const afterScan = scanned(pairing, first)
  const restarting = disconnected(afterScan, { kind: 'waiting', untilMs: 0, rev: 1, version: null })
  const loggingIn = connecting(restarting, 'logging-in', second)
  expect([afterScan, restarting, loggingIn].map(isCompletingLink)).toEqual([true, true, true])
  expect(isCompletingLink(opened(loggingIn, second))).toBe(false)
})

test('the scan of a QR code that was replaced meanwhile does not count for the new one', () => {
  const pairing = connecting(initialState, 'pairing', second)
  expect(scanned(pairing, first)).toBe(pairing)
})
