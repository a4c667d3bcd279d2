import { describe, expect, test } from 'vitest'
import type { ConnectionState } from '../src/device/connection-state.ts'
import { pairingPollMs, planDevice } from '../src/device/plan.ts'

type State = ConnectionState<{ rev: number; sessionRev: number }, null>
type Facts = NonNullable<Parameters<typeof planDevice>[0]>

const nowMs = 100_000
const version = '2.3000.1'
const noBlock = { blockLeftMs: null, blockRev: null, blockVersion: null }
const linked: Facts = {
  isLinked: true,
  hasStoredCreds: true,
  isPairing: false,
  isRemovable: false,
  isAccountDisabled: false,
  desiredRev: 5,
  sessionRev: 7,
  ...noBlock,
}
const leaving = { ...linked, isLinked: false }
const unlinked = { ...leaving, hasStoredCreds: false }
const wanted = { ...unlinked, isPairing: true }
const removable = { ...unlinked, isRemovable: true }
const banned = { ...linked, blockLeftMs: 900 }
const bannedBefore = { ...linked, blockLeftMs: -1 }
const locked = { ...linked, blockRev: 5 }
const lockedBefore = { ...linked, blockRev: 4 }
const outdated = { ...linked, blockLeftMs: 900, blockRev: 5, blockVersion: version }
const updated = { ...outdated, blockVersion: '2.3000.0' }

const before = { isCompletingLink: false }
const idle: State = { kind: 'idle', ...before }
const waiting: State = { kind: 'waiting', untilMs: nowMs + 700, rev: 5, version: null, ...before }
const waitingForOlder: State = { ...waiting, rev: 4 }
const waited: State = { ...waiting, untilMs: nowMs }
const bannedHere: State = { ...waiting, rev: null }
const outdatedHere: State = { ...waiting, version }
const updatedHere: State = { ...waiting, version: '2.3000.0' }
const refused: State = { kind: 'refused', reason: 'logged_out', ...before }
const pairing: State = { kind: 'pairing', connection: { rev: 5, sessionRev: 7 }, ...before }
const pairingOlder: State = { ...pairing, connection: { rev: 4, sessionRev: 7 } }
const pairingBefore: State = { ...pairing, connection: { rev: 5, sessionRev: 6 } }
const scannedCode: State = { ...pairing, isCompletingLink: true }
const loggingIn: State = { kind: 'logging-in', connection: { rev: 5, sessionRev: 7 }, ...before }
const open: State = { kind: 'open', connection: { rev: 5, sessionRev: 7 } }
const online: State = { ...open, kind: 'online', outbox: null }

const openBefore: State = { kind: 'open', connection: { rev: 5, sessionRev: 6 } }
const onlineBefore: State = { ...openBefore, kind: 'online', outbox: null }
const loggingInBefore: State = { ...loggingIn, connection: { rev: 5, sessionRev: 6 } }

const plan = (facts: Facts | undefined, state: State, isPaced = true) =>
  planDevice(facts, state, { nowMs, version, isPaceApplied: () => isPaced })

describe('the next step of a device', () => {
  test.each([
    ['that is linked', linked, { idle, waited, waitingForOlder, pairing, pairingOlder }, 'log-in'],
    ['that is linked', linked, { waiting, outdatedHere }, 'wait'],
    ['whose worker has read a newer version', linked, { updatedHere }, 'log-in'],
    ['whose worker has read a newer version', wanted, { updatedHere }, 'show-qr'],
    ['that is linked', linked, { loggingIn, online, scannedCode }, 'none'],
    ['that is linked', linked, { open }, 'go-online'],
    ['that is to be restarted', linked, { openBefore, onlineBefore }, 'restart'],
    ['that is to be restarted', linked, { loggingInBefore }, 'none'],
    ['that is to be restarted and then logged out', leaving, { openBefore, onlineBefore }, 'log-out'],
    ['that is to be logged out', leaving, { idle, waited, waitingForOlder, pairing, pairingOlder }, 'log-in'],
    ['that is to be logged out', leaving, { waiting }, 'wait'],
    ['that is to be logged out', leaving, { loggingIn, scannedCode }, 'none'],
    ['that is to be logged out', leaving, { open, online }, 'log-out'],
    ['whose number is banned', banned, { idle, waiting, waited, waitingForOlder }, 'wait'],
    ['whose number was banned', bannedBefore, { idle, waited, waitingForOlder }, 'log-in'],
    ['whose number was banned a moment ago', linked, { bannedHere }, 'wait'],
    ['whose number is locked', locked, { idle, waited, waitingForOlder }, 'wait'],
    ['whose number was locked before the user acted', lockedBefore, { idle, waitingForOlder }, 'log-in'],
    ['whose client is outdated', outdated, { idle, waited }, 'wait'],
    ['whose client has another version now', updated, { idle, waited }, 'log-in'],
    ['that is connected although it was blocked', locked, { open }, 'go-online'],
    [
      'of a banned number, to be logged out',
      { ...banned, isLinked: false },
      { idle, waiting },
      'abandon-link',
    ],
    ['of a number banned a moment ago, to be logged out', leaving, { bannedHere }, 'abandon-link'],
    ['of a locked number, to be logged out', { ...lockedBefore, isLinked: false }, { idle }, 'log-in'],
    ['of an outdated client, to be logged out', { ...outdated, isLinked: false }, { idle }, 'wait'],
    ['of a banned number without credentials', { ...wanted, blockLeftMs: 900 }, { idle }, 'show-qr'],
    ['that is to be paired', wanted, { idle, waited, waitingForOlder, pairingOlder }, 'show-qr'],
    ['that is to be paired', wanted, { loggingIn, open, online }, 'show-qr'],
    ['that is to be paired through another proxy', wanted, { pairingBefore }, 'show-qr'],
    ['that is to be paired', wanted, { pairing, waiting }, 'wait'],
    ['that is unlinked', unlinked, { idle, waiting, waited }, 'none'],
    ['that is unlinked', unlinked, { pairing, loggingIn, open, online }, 'disconnect'],
    ['that is to be removed', removable, { idle, waiting, pairing, open, online }, 'remove'],
    ['that is gone', undefined, { idle, waiting }, 'none'],
    ['that is gone', undefined, { pairing, loggingIn, open, online }, 'disconnect'],
  ] as const)('%s', (_, facts, states, kind) => {
    for (const [name, state] of Object.entries(states)) expect(plan(facts, state).kind, name).toBe(kind)
  })

  test.each([linked, leaving, wanted, unlinked, removable, undefined])(
    'is to forget credentials that WhatsApp refused, with every state in Postgres (%j)',
    (facts) => expect(plan(facts, refused)).toEqual({ kind: 'forget-credentials', reason: 'logged_out' }),
  )

  test('is to take a new pace only while it sends', () => {
    expect(plan(linked, online, false).kind).toBe('update-pace')
    expect(plan(linked, open, false).kind).toBe('go-online')
    expect(plan(leaving, online, false).kind).toBe('log-out')
  })

  test('is a login when both the pause and the block are over', () => {
    expect(plan(banned, waiting)).toEqual({ kind: 'wait', ms: 900 })
    expect(plan({ ...banned, blockLeftMs: 100 }, waiting)).toEqual({ kind: 'wait', ms: 700 })
    expect(plan(locked, waiting)).toEqual({ kind: 'wait', ms: Number.POSITIVE_INFINITY })
  })

  test('follows when the pause is over, or soon while a QR code is shown', () => {
    expect(plan(linked, waiting)).toEqual({ kind: 'wait', ms: 700 })
    expect(plan(wanted, waiting)).toEqual({ kind: 'wait', ms: pairingPollMs })
    expect(plan(wanted, pairing)).toEqual({ kind: 'wait', ms: pairingPollMs })
  })
})
