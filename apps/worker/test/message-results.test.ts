import { randomUUID } from 'node:crypto'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { recordOutcomes } from '@wagate/db/queries/messages/message-outcomes'
import { claimShards, listUnownedShards } from '@wagate/db/queries/workers/shard-leases'
import { registerWorker } from '@wagate/db/queries/workers/workers'
import { type DeviceEvents, makeDeviceEvents } from '@wagate/queue/device-events'
import { openRedisLinks, type RedisLinks } from '@wagate/queue/redis-links'
import { makeLogger } from '@wagate/runtime/logger'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import type { DeviceEvent } from '@wagate/shared/device-events'
import { makeMessageId } from '@wagate/shared/ids'
import { createTestDatabase, type TestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeMetrics } from '../src/metrics/metrics.ts'
import { makeMessageResults, makeRecorder } from '../src/outbox/settlement.ts'
import { makeMessage } from './waiting-rows.ts'

const logger = makeLogger('test', 'silent')
let database: TestDatabase
let db: Database
let links: RedisLinks
let events: DeviceEvents
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 2, applicationName: 'test', statementTimeoutMs: 5000 })
  links = openRedisLinks(await testRedisUrl(), { onError: () => undefined })
  events = makeDeviceEvents(links)
})
afterAll(async () => {
  await links.close()
  await closeDatabase(db)
  await database.drop()
})

test('only what is stored is announced as stored', async () => {
  const deviceId = makeDeviceId()
  const workerId = randomUUID()
  await registerWorker(db, { id: workerId, name: 'one', capacity: 10, leaseTtlMs: 60_000 })
  const [free] = await listUnownedShards(db)
  const [owned] = await claimShards(db, workerId, [free?.shard ?? 0])
  const lease = { shard: owned?.shard ?? 0, epoch: owned?.epoch ?? 0, workerId, isValid: () => true }
  const outcomes = makeNaturalBatch(
    (given: Parameters<typeof recordOutcomes>[1]) => recordOutcomes(db, given),
    {
      itemsMax: 10,
    },
  )
  const resultsOf = (epoch: number) => {
    const device = { id: deviceId, accountId: 1, lease: { ...lease, epoch } }
    const recorder = makeRecorder({ outcomes, publishEventHint: () => undefined, logger }, device)
    return makeMessageResults({ events, metrics: makeMetrics() }, { id: deviceId, recorder })
  }
  await db.$client`INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a', 'x', 'USER', 9)`
  const told: unknown[] = []
  await events.subscribe(deviceId, (event) => told.push(event))
  const [message, canceled] = [await insert(deviceId, 'sending'), await insert(deviceId, 'canceled')]

  await resultsOf(lease.epoch - 1).recordSent(message)
  await resultsOf(lease.epoch).recordSent(canceled)
  await resultsOf(lease.epoch).recordSent(message)
  const event = { kind: 'message', status: 'sent' }
  await vi.waitFor(
    () =>
      expect(told).toEqual([
        { ...event, messageId: message.id },
        { ...event, messageId: canceled.id },
        { ...event, messageId: message.id, isStored: true },
      ]),
    eventually,
  )
})

test('the record of a sent message is deferred unless the latest event had a subscriber', async () => {
  const deviceId = makeDeviceId()
  const awaited: boolean[] = []
  const recorder = {
    recordSent: async (_: unknown, isAwaited: boolean) => awaited.push(isAwaited) > 0,
    fail: async () => true,
  }
  const published: Promise<number>[] = []
  const noted = {
    ...events,
    publish(id: number, event: DeviceEvent) {
      const receivers = events.publish(id, event)
      published.push(receivers)
      return receivers
    },
  }
  const results = makeMessageResults({ events: noted, metrics: makeMetrics() }, { id: deviceId, recorder })
  const send = async () => {
    await results.recordSent(makeMessage(1, '15550100002'))
    await Promise.all(published)
  }

  await send()
  const leave = await events.subscribe(deviceId, () => undefined)
  await send()
  await send()
  await leave()
  await send()
  await send()
  expect(awaited).toEqual([false, false, true, true, false])
})

/** Unique, because channels span all databases of Redis. */
function makeDeviceId(): number {
  return 1_000_000_000 + Math.floor(Math.random() * 500_000_000)
}

async function insert(deviceId: number, status: string) {
  const id = makeMessageId('15550100001')
  const [row] = await db.$client<{ createdAt: string }[]>`
    WITH device AS (
      INSERT INTO devices (id, account_id, sender, name, shard) SELECT ${deviceId}, min(id), '15550100001', 'x', 0 FROM accounts
      ON CONFLICT DO NOTHING
    )
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation)
    SELECT ${id}, min(id), ${deviceId}, 'out', 'text', '15550100001', '15550100002', ${status}, ${id}, 1 FROM accounts
    RETURNING created_at::text AS "createdAt"`
  return makeMessage(1, '15550100002', { id, waId: id, createdAt: row?.createdAt ?? '' })
}
