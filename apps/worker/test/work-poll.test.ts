import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeviceState } from '@wagate/db/queries/device-owner-view'
import { expect, test } from 'vitest'
import { makeLoginQueue } from '../src/device/login-queue.ts'
import { countBlocked, notify } from '../src/shards/work-poll.ts'

const state: DeviceState = {
  id: 1,
  accountId: 1,
  shard: 0,
  sender: '15550000001',
  desired: 'linked',
  desiredRev: 1,
  sessionRev: 0,
  isLinked: true,
  hasStoredCreds: true,
  isPairing: false,
  pairingStep: null,
  linkGeneration: 1,
  sealedProxy: null,
  isRemovable: false,
  ratePerMinute: null,
  burst: null,
  dailyCap: null,
  newContactsPerDay: null,
  warmUpDay: 0,
  restrictedMs: 0,
  statusReason: null,
  blockLeftMs: null,
  blockRev: null,
  blockVersion: null,
  restrictionReason: null,
  cappedMs: 0,
}

test('messages that only the poll finds move the login of their device forward', async () => {
  const queue = makeLoginQueue(1)
  const endFirst = await queue.acquire(1, () => false)
  const order: string[] = []
  const waiting = ['idle', 'with messages'].map((name) => deviceThatLogsIn(queue, name, order))
  const [idle, withMessages] = waiting
  if (!idle || !withMessages) throw new Error('no devices')
  notify(idle, { ...state, hasWaiting: false })
  notify(withMessages, { ...state, hasWaiting: true })
  endFirst()
  await nextTurn()
  expect(order).toEqual(['with messages', 'idle'])
})

test.each([
  { isReconciled: true, hasWaiting: false, calls: [] },
  { isReconciled: true, hasWaiting: true, calls: ['wake'] },
  { isReconciled: false, hasWaiting: false, calls: ['reconcile'] },
  { isReconciled: false, hasWaiting: true, calls: ['reconcile', 'wake'] },
])(
  'calls $calls when isReconciled is $isReconciled and hasWaiting is $hasWaiting',
  ({ isReconciled, hasWaiting, calls }) => {
    const called: string[] = []
    const device = {
      isReconciled: () => isReconciled,
      reconcile: () => void called.push('reconcile'),
      wake: () => void called.push('wake'),
    }
    notify(device, { ...state, hasWaiting })
    expect(called.toSorted()).toEqual(calls)
  },
)

test('counts the devices that WhatsApp does not let log in, by reason', () => {
  const banned = { ...state, statusReason: 'temporarily_banned', blockLeftMs: 1000 }
  const counts = countBlocked(
    [
      state,
      banned,
      banned,
      { ...banned, blockLeftMs: -1 },
      { ...banned, hasStoredCreds: false },
      { ...state, statusReason: 'blocked_by_whatsapp', blockRev: 1 },
      { ...state, statusReason: 'blocked_by_whatsapp', blockRev: 0 },
      { ...banned, statusReason: 'client_outdated', blockVersion: '2.3000.0' },
    ],
    '2.3000.1',
  )
  expect(Object.fromEntries(counts)).toEqual({ temporarily_banned: 2, blocked_by_whatsapp: 1 })
})

/** Like a device that waits in the queue: not yet what is desired, and urgent once it has been woken. */
function deviceThatLogsIn(queue: ReturnType<typeof makeLoginQueue>, name: string, order: string[]) {
  let isUrgent = false
  void queue
    .acquire(1, () => isUrgent)
    .then((giveBack) => {
      order.push(name)
      giveBack()
    })
  return {
    isReconciled: () => false,
    reconcile: () => undefined,
    wake() {
      isUrgent = true
    },
  }
}
