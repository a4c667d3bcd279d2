import { randomBytes } from 'node:crypto'
import { findDeviceStates } from '@wagate/db/queries/devices/device-owner-view'
import { makeLogger } from '@wagate/runtime/logger'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { makeScopedCache } from '../src/caches/scoped-cache.ts'
import { readMasterKeys } from '../src/config/master-keys.ts'
import type { DeviceContext } from '../src/device/device-context.ts'
import { makeMetrics } from '../src/metrics/metrics.ts'
import { makeRecipientsCache } from '../src/outbox/number-resolver.ts'
import { deviceOf, makeHostedShard } from '../src/shards/hosted-shard.ts'
import { openOwnedDevice } from './owned-device.ts'

let device: Awaited<ReturnType<typeof openOwnedDevice>>
beforeAll(async () => {
  device = await openOwnedDevice()
})
afterAll(() => device.drop())

const cache = () => makeScopedCache({ sizeMax: 100 })

function contextWith(readStates: (ids: number[]) => ReturnType<typeof findDeviceStates>): DeviceContext {
  return {
    db: device.db,
    config: { outbox: {}, masterKeys: readMasterKeys(randomBytes(32)) },
    logger: makeLogger('test', 'silent'),
    metrics: makeMetrics(),
    whatsApp: { clientVersion: { current: () => '1.0.0', doubt: () => undefined } },
    caches: {
      recipientsOf: makeRecipientsCache(),
      auth: cache(),
      retryCounts: cache(),
      notedContacts: cache(),
    },
    statements: {
      deviceStates: makeNaturalBatch(readStates, { itemsMax: 100 }),
      learntContacts: { add: async () => undefined },
    },
  } as unknown as DeviceContext
}

test('a device whose state cannot be read is read again after pauses that grow, until it is', async () => {
  vi.useFakeTimers({ now: 0 })
  onTestFinished(() => void vi.useRealTimers())
  const reads: number[] = []
  let isRefused = true
  const context = contextWith(async (ids) => {
    reads.push(Date.now())
    if (isRefused) throw new Error('refused')
    return ids.map(() => undefined)
  })
  const shard = makeHostedShard({ ...device.owned, isValid: () => true })
  deviceOf(context, shard, device.id).reconcile()
  await vi.advanceTimersByTimeAsync(60_000)
  const gaps = reads.slice(1).map((ms, index) => ms - (reads[index] ?? 0))
  for (const [index, gap] of gaps.entries()) {
    const mostMs = Math.min(10_000, 1000 * 2 ** index)
    expect(gap).toBeGreaterThanOrEqual(mostMs / 2)
    expect(gap).toBeLessThanOrEqual(mostMs)
  }
  expect(gaps.length).toBeGreaterThan(5)
  isRefused = false
  await vi.advanceTimersByTimeAsync(10_000)
  expect(shard.devices.size).toBe(0)
})

test('a device is forgotten once it is removed', async () => {
  const { db, id, owned } = device
  const context = contextWith((ids) => findDeviceStates(db, ids))
  const shard = makeHostedShard({ ...owned, isValid: () => true })
  const other = deviceOf(context, shard, id + 1)
  other.reconcile()
  const known = deviceOf(context, shard, id)
  known.reconcile()
  await until('a device that never existed to be forgotten', () => !shard.devices.has(id + 1))
  expect(deviceOf(context, shard, id)).toBe(known)
  await db.$client`UPDATE devices SET deleted_at = now(), removed_at = now() WHERE id = ${id}`
  known.reconcile()
  await until('the removed device to be forgotten', () => !shard.devices.has(id))
})
