import type { DeviceWait, MessageWait } from '@wagate/db/queries/messages/message-waits'
import { expect, test } from 'vitest'
import { waitOf } from '../src/messages/waits.ts'

const nowMs = Date.parse('2026-01-31T12:00:00Z')
const later = new Date(nowMs + 60_000)
const tomorrow = new Date('2026-02-01T00:00:00Z')

const message: MessageWait = {
  id: 'x',
  deviceId: 7,
  status: 'queued',
  isScheduled: false,
  sendAtMs: null,
  isNewContact: null,
  isBehind: false,
  hasFile: false,
  isHeld: false,
  retryAtMs: null,
}
const device: DeviceWait = {
  id: 7,
  isConnected: true,
  isPaused: false,
  pausedUntilMs: null,
  loginAfterMs: null,
  restrictedUntilMs: null,
  newContactsPerDay: null,
  warmUpDay: 0,
  newContactsUsed: 0,
  isCapReached: false,
}
type Given = Partial<MessageWait & Omit<DeviceWait, 'id'>>

/** Each row is true of a message together with all rows below it. */
const cases: [reason: string, given: Given, until: Date | null][] = [
  ['scheduled', { isScheduled: true, sendAtMs: later.getTime() }, later],
  ['sender_disconnected', { isConnected: false, loginAfterMs: later.getTime() }, later],
  ['restriction', { isNewContact: true, restrictedUntilMs: later.getTime() }, later],
  ['new_contacts', { isNewContact: true, restrictedUntilMs: null }, tomorrow],
  ['earlier_message', { isBehind: true }, null],
  ['file', { hasFile: true, retryAtMs: later.getTime() }, later],
  ['retry', { status: 'sending', retryAtMs: later.getTime() }, later],
  ['file', { hasFile: true, isHeld: true }, null],
  ['answer', { status: 'sending', hasFile: true }, null],
  ['daily_cap', { isCapReached: true }, tomorrow],
  ['pace', {}, null],
]

const wait = (given: Given) =>
  waitOf({ ...message, ...given, id: 'x' }, { ...device, ...given, id: 7 }, nowMs)

test.each(cases)('a message waits for %s: %j', (reason, given, until) => {
  expect(wait(given)).toEqual({ reason, until })
})

test('the first reason that is true counts', () => {
  const all: Given = Object.assign({}, ...cases.map(([, given]) => given).toReversed())
  const order = [
    {},
    { isScheduled: false },
    { isConnected: true },
    { isNewContact: null },
    { isBehind: false },
  ]
  const found = order.map((_, index) => wait(Object.assign({}, all, ...order.slice(0, index + 1))).reason)
  expect(found).toEqual(['scheduled', 'sender_disconnected', 'restriction', 'earlier_message', 'retry'])
})

test('a login that may begin by now says nothing about when it is over', () => {
  expect(wait({ isConnected: false, loginAfterMs: nowMs - 1 }).until).toBeNull()
})
