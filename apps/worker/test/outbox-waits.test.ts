import { expect, test } from 'vitest'
import { makeHands } from '../src/outbox/message-hands.ts'
import { readWaits } from '../src/outbox/outbox-waits.ts'
import { makeMessage } from './waiting-rows.ts'

type Given = {
  type?: 'text' | 'image'
  waitMs?: number
  hand?: 'preparing' | 'written' | 'acknowledged'
  isPassable?: boolean
  isRestricted?: boolean
  isAdmitted?: boolean
  isCapped?: boolean
  isUnknown?: boolean
  isHeld?: boolean
}

/** Of the first of two messages to one recipient, which has these facts, and of the second one, a text. */
function reasonsOf(given: Given) {
  const messages = [makeMessage(1, '1', { type: given.type ?? 'text' }), makeMessage(2, '1')]
  const [first] = messages
  if (!first) throw new Error('There are two')
  const hands = makeHands(
    given.hand ? [{ turn: { message: first, recipient: '1@jid' }, state: given.hand }] : [],
  )
  const device = {
    firstContacts: { areActive: () => given.isRestricted ?? false },
    pace: {
      pause: { leftMs: () => (given.isHeld ? 1000 : 0) },
      contactBudget: { admits: () => given.isAdmitted ?? true, isUsedUp: () => given.isAdmitted === false },
      pacer: { isCapped: () => given.isCapped ?? false },
    },
  } as unknown as Parameters<typeof readWaits>[1]['device']
  return readWaits(messages, {
    hands,
    device,
    facts: {
      recipientOf: () => (given.isUnknown ? undefined : '1@jid'),
      isAcknowledged: hands.isAcknowledged,
      workFor: hands.workFor,
      waitMs: ({ id }) => (id === first.id ? (given.waitMs ?? 0) : 0),
      paceMs: () => 0,
      isRetry: () => false,
      typingMs: () => 0,
      mayBePassed: () => given.isPassable ?? false,
    },
  })
}

test.each([
  [{}, ['pace', 'earlier_message']],
  [{ isCapped: true }, ['daily_cap', 'earlier_message']],
  [{ isUnknown: true }, ['pace', 'earlier_message']],
  [{ type: 'image' }, ['file', 'earlier_message']],
  [{ type: 'image', hand: 'preparing' }, ['file', 'earlier_message']],
  [{ type: 'image', waitMs: 1000 }, ['file', 'earlier_message']],
  [{ waitMs: 1000 }, ['retry', 'earlier_message']],
  [{ waitMs: 1000, isPassable: true }, ['retry', 'pace']],
  [{ hand: 'written' }, ['answer', 'earlier_message']],
  [{ hand: 'acknowledged' }, ['pace']],
  [{ isAdmitted: false }, ['new_contacts', 'earlier_message']],
  [{ isHeld: true, isAdmitted: false, waitMs: 1000 }, ['paused', 'earlier_message']],
  [{ isHeld: true, isUnknown: true }, ['paused', 'earlier_message']],
  [{ isHeld: true, hand: 'written' }, ['answer', 'earlier_message']],
  [{ isAdmitted: false, isRestricted: true }, ['restriction', 'earlier_message']],
] as [Given, string[]][])('%j: they wait for %j', (given, expected) => {
  expect(reasonsOf(given).read).toEqual(expected)
})

test.each([
  [{}, { hasReadAll: true, rest: 'pace' }],
  [{ isCapped: true }, { hasReadAll: true, rest: 'daily_cap' }],
  [{ isAdmitted: false }, { hasReadAll: false, rest: 'new_contacts' }],
  [{ isHeld: true }, { hasReadAll: false, rest: 'paused' }],
  [
    { isRestricted: true, isCapped: true },
    { hasReadAll: false, rest: 'restriction' },
  ],
] as [Given, object][])('%j: what was not read: %j', (given, expected) => {
  expect(reasonsOf(given)).toMatchObject(expected)
})
