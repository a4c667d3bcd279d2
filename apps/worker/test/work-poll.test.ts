import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
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
  isAccountDisabled: false,
  ratePerMinute: null,
  burst: null,
  dailyCap: null,
  newContactsPerDay: null,
  warmUpDay: 0,
  restrictedMs: 0,
  isPaused: false,
  usesPriorities: false,
  pausedUntilMs: null,
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
  notify(idle, { ...state, hasWaiting: false, hasReadRequests: false })
  notify(withMessages, { ...state, hasWaiting: true, hasReadRequests: false })
  endFirst()
  await nextTurn()
  expect(order).toEqual(['with messages', 'idle'])
})

test.each([
  { isReconciled: true, hasWaiting: false, hasReadRequests: false, calls: [] },
  { isReconciled: true, hasWaiting: true, hasReadRequests: false, calls: ['wake'] },
  { isReconciled: false, hasWaiting: false, hasReadRequests: false, calls: ['reconcile'] },
  { isReconciled: false, hasWaiting: true, hasReadRequests: false, calls: ['reconcile', 'wake'] },
  { isReconciled: true, hasWaiting: false, hasReadRequests: true, calls: ['markRead'] },
])(
  'calls $calls when isReconciled is $isReconciled, hasWaiting $hasWaiting and hasReadRequests $hasReadRequests',
  ({ isReconciled, hasWaiting, hasReadRequests, calls }) => {
    const called: string[] = []
    const device = {
      isReconciled: () => isReconciled,
      reconcile: () => void called.push('reconcile'),
      wake: () => void called.push('wake'),
      markRead: () => void called.push('markRead'),
    }
    notify(device, { ...state, hasWaiting, hasReadRequests })
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
    .then((release) => {
      order.push(name)
      release()
    })
  return {
    isReconciled: () => false,
    reconcile: () => undefined,
    wake() {
      isUrgent = true
    },
    markRead: () => undefined,
  }
}
