import { randomBytes } from 'node:crypto'
import { findDeviceStates } from '@wagate/db/queries/device-owner-view'
import { makeLogger } from '@wagate/runtime/logger'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeviceContext } from '../src/context.ts'
import { makeMetrics } from '../src/metrics.ts'
import { makeRecipientsCache } from '../src/outbox/recipients.ts'
import { makeScopedCache } from '../src/scoped-cache.ts'
import { readMasterKeys } from '../src/session/master-keys.ts'
import { deviceOf, makeHostedShard } from '../src/shards/hosted-shard.ts'
import { openOwnedDevice } from './owned-device.ts'

let device: Awaited<ReturnType<typeof openOwnedDevice>>
beforeAll(async () => {
  device = await openOwnedDevice()
})
afterAll(() => device.drop())

const cache = () => makeScopedCache({ sizeMax: 100 })

test('a device is forgotten once it is removed', async () => {
  const { db, id, owned } = device
  const context = {
    db,
    config: { outbox: {} },
    logger: makeLogger('test', 'silent'),
    metrics: makeMetrics(),
    masterKeys: readMasterKeys(randomBytes(32)),
    clientVersion: { current: () => '1.0.0', doubt: () => undefined },
    recipientsOf: makeRecipientsCache(),
    caches: { auth: cache(), retryCounts: cache(), messageSecrets: cache() },
    deviceStates: makeNaturalBatch((ids: number[]) => findDeviceStates(db, ids), { itemsMax: 100 }),
  } as unknown as DeviceContext
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
