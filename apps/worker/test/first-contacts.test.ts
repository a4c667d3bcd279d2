import { makeLogger } from '@wagate/runtime/logger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeviceContext } from '../src/device/device-context.ts'
import { makeMetrics } from '../src/metrics/metrics.ts'
import { makeFirstContacts } from '../src/outbox/first-contacts.ts'
import { openOwnedDevice } from './owned-device.ts'

let device: Awaited<ReturnType<typeof openOwnedDevice>>
beforeAll(async () => {
  device = await openOwnedDevice()
})
afterAll(() => device.drop())

function open() {
  const context = {
    config: { outbox: { restrictionPauseMs: 60_000 } },
    db: device.db,
    logger: makeLogger('test', 'silent'),
    metrics: makeMetrics(),
  } as DeviceContext
  return makeFirstContacts(context, { ...device.owned, isValid: () => true }, device.id)
}

test('a stored time-lock is taken over, also after WhatsApp has told what it counts', async () => {
  const firstContacts = open()
  const openedAtMs = performance.now()
  await firstContacts.pauseCapped(undefined)
  const stored = { restrictedMs: 60_000, restrictionReason: 'reach_out_time_lock', cappedMs: 0 } as const
  firstContacts.load(stored, openedAtMs)
  expect([firstContacts.isLocked(), firstContacts.isCapped()]).toEqual([true, true])
})
