import { expect, test } from 'vitest'
import { blockedMs, isNumberBanned } from '../src/device/login-block.ts'

const version = '2.3000.1'
const none = { desiredRev: 5, blockLeftMs: null, blockRev: null, blockVersion: null }

test.each([
  ['no block', none, 0, false],
  ['a ban', { ...none, blockLeftMs: 700 }, 700, true],
  ['a ban that is over', { ...none, blockLeftMs: -1 }, 0, false],
  ['a lock, for the revision that was refused', { ...none, blockRev: 5 }, Number.POSITIVE_INFINITY, false],
  ['a lock, for an earlier revision', { ...none, blockRev: 4 }, 0, false],
  ['a version', { ...none, blockLeftMs: 700, blockRev: 5, blockVersion: version }, 700, false],
  ['another version', { ...none, blockLeftMs: 700, blockRev: 5, blockVersion: '2.3000.0' }, 0, false],
  [
    'a version, for an earlier revision',
    { ...none, blockLeftMs: 700, blockRev: 4, blockVersion: version },
    0,
    false,
  ],
  [
    'a version whose time is over',
    { ...none, blockLeftMs: -1, blockRev: 5, blockVersion: version },
    0,
    false,
  ],
])('%s', (_, facts, ms, isBanned) => {
  expect(blockedMs(facts, version)).toBe(ms)
  expect(isNumberBanned(facts)).toBe(isBanned)
})
