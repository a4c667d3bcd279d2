import { type NewChatMessageCapInfo, ReachoutTimelockEnforcementType } from 'baileys'
import { describe, expect, it, test } from 'vitest'
import { makeNewContactPauses } from '../src/outbox/first-contacts.ts'
import { type NewChatCap, readNewChatCap, readTimeLock } from '../src/session/connection/restrictions.ts'

const nowMs = Date.parse('2026-11-01T12:00:00Z')
const nowSeconds = nowMs / 1000
const dayMs = 86_400_000
const at = (ms: number) => new Date(nowMs + ms)
const { DEFAULT, WEB_COMPANION_ONLY } = ReachoutTimelockEnforcementType

describe('a time-lock', () => {
  it.each([
    ['is over', { isActive: false }, { isActive: false }],
    [
      'is active until its end',
      { isActive: true, timeEnforcementEnds: at(5000) },
      { isActive: true, forMs: 5000 },
    ],
    ['is active without a type', { isActive: true, enforcementType: DEFAULT }, { isActive: true }],
    ['is over with a type', { isActive: false, enforcementType: WEB_COMPANION_ONLY }, { isActive: false }],
    ['has an end that has passed', { isActive: true, timeEnforcementEnds: at(-1) }, { isActive: true }],
    ['has no valid end', { isActive: true, timeEnforcementEnds: new Date(Number.NaN) }, { isActive: true }],
    [
      'has an end in 100 years',
      { isActive: true, timeEnforcementEnds: at(36_500 * dayMs) },
      { isActive: true, forMs: 366 * dayMs },
    ],
  ])('%s', (_, told, read) => {
    expect(readTimeLock(told, nowMs)).toEqual(read)
  })
})

describe('the cap of new chats', () => {
  const cases: [string, object | null | undefined, NewChatCap | undefined][] = [
    ['is unknown', undefined, undefined],
    ['is not answered', null, undefined],
    ['does not exist', { total_quota: '-1', used_quota: '0' }, { used: null, total: null, isCapped: false }],
    [
      'is not used up',
      { total_quota: 10, used_quota: 9, cycle_end_timestamp: `${nowSeconds + 60}` },
      { used: 9, total: 10, isCapped: false, forMs: 60_000 },
    ],
    [
      'is used up, with numbers as text',
      { total_quota: '10', used_quota: '10', cycle_end_timestamp: `${nowSeconds + 60}` },
      { used: 10, total: 10, isCapped: true, forMs: 60_000 },
    ],
    [
      'is used up by its status, with a time in ms',
      { capping_status: 'CAPPED', cycle_end_timestamp: `${nowMs + 60_000}` },
      { used: null, total: null, isCapped: true, forMs: 60_000 },
    ],
    ['has no end', { total_quota: 1, used_quota: 1 }, { used: 1, total: 1, isCapped: true }],
    ['has no sense', { total_quota: 'x', used_quota: 1.5 }, { used: null, total: null, isCapped: false }],
  ]
  it.each(cases)('%s', (_, told, read) => {
    expect(readNewChatCap(told as NewChatMessageCapInfo | null | undefined, nowMs)).toEqual(read)
  })
})

test('a lock and a cap pause new contacts independently, each until its own end', () => {
  let clockMs = 0
  const pauses = makeNewContactPauses(() => clockMs)
  expect(pauses.areActive()).toBe(false)
  pauses.lock(pauses.lasting('reach_out_time_lock', 1000))
  pauses.cap(pauses.lasting('new_chat_cap', 3000))
  expect([pauses.isLocked(), pauses.isCapped(), pauses.reason()]).toEqual([true, true, 'new_chat_cap'])
  pauses.lock(undefined)
  expect([pauses.isLocked(), pauses.areActive(), pauses.reason()]).toEqual([false, true, 'new_chat_cap'])
  clockMs = 2999
  expect(pauses.areActive()).toBe(true)
  clockMs = 3000
  expect([pauses.areActive(), pauses.reason()]).toEqual([false, undefined])
})

test('the same lock is news only once', () => {
  const pauses = makeNewContactPauses(() => 0)
  expect(pauses.lock(undefined)).toBe(false)
  expect(pauses.lock(pauses.lasting('reach_out_time_lock', 60_000))).toBe(true)
  expect(pauses.lock(pauses.lasting('reach_out_time_lock', 59_500))).toBe(false)
  expect(pauses.lock(pauses.lasting('reach_out_time_lock', 90_000))).toBe(true)
  expect(pauses.lock(pauses.lasting('unconfirmed', 90_000))).toBe(true)
  expect(pauses.lock(undefined)).toBe(true)
  expect(pauses.lock(undefined)).toBe(false)
})

test('new contacts are held for the time of a question', () => {
  let clockMs = 0
  const pauses = makeNewContactPauses(() => clockMs)
  pauses.hold(5000)
  expect([pauses.areActive(), pauses.reason()]).toEqual([true, undefined])
  expect([pauses.endHold(), pauses.endHold(), pauses.areActive()]).toEqual([true, false, false])
  pauses.hold(5000)
  clockMs = 5000
  expect([pauses.areActive(), pauses.endHold()]).toEqual([false, false])
})
