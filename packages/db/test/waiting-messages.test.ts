import { randomUUID } from 'node:crypto'
import { normalPriority } from '@wagate/shared/priorities'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { findDeviceStates, listDevicesWithWork } from '../src/queries/devices/device-owner-view.ts'
import { removeDevice, wipeCredentials } from '../src/queries/devices/device-removal.ts'
import { claimMessages } from '../src/queries/messages/message-claims.ts'
import {
  expireMessages,
  type FailedPage,
  failUnlinkedMessages,
  firstWaiting,
  listDevicesWithExpired,
  type WaitingPosition,
} from '../src/queries/messages/unsendable-messages.ts'
import {
  countWaitingMessages,
  listNextMessages,
  listWaitingMessages,
} from '../src/queries/messages/waiting-messages.ts'
import { type Fence, OwnershipLost } from '../src/queries/statements/fence.ts'
import { countReads } from './table-reads.ts'

const sender = '4915100000000'
const hourMs = 3_600_000
const list = { except: [], exceptNumbers: [], without: [], limit: 64 }
let database: TestDatabase
let db: Database
let fence: Fence
let deviceId = 0

beforeAll(async () => {
  database = await createTestDatabase({ isWeekly: true })
  db = openDatabase(database.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 20_000 })
  await db.$client`INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a@example.com', '', 'USER', 9)`
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})
beforeEach(async () => {
  deviceId += 1
  const shard = deviceId % 256
  fence = { shard, workerId: randomUUID(), epoch: 7 }
  await db.$client`UPDATE shard_leases SET owner = ${fence.workerId}, epoch = 7 WHERE shard = ${shard}`
  await db.$client`
    INSERT INTO devices (id, shard, account_id, sender, name, desired, link_generation, has_credentials)
    SELECT ${deviceId}, ${shard}, max(id), ${`${sender}${deviceId}`}, '', 'linked', 1, true FROM accounts`
})

/** Inserts messages with defaults. `at` and `sendAt` are relative to now. */
async function insertWaiting(
  count: number,
  {
    at = '0',
    sendAt = null,
    generation = 1,
  }: { at?: string; sendAt?: string | null; generation?: number } = {},
): Promise<void> {
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation, created_at, send_at)
    SELECT gen_random_uuid(), 1, ${deviceId}, 'out', 'text', ${sender}, n::text, 'x', 'queued', 'X', ${generation},
      now() + ${at}::interval, now() + ${sendAt}::interval
    FROM generate_series(1, ${count}::int) AS n`
}

async function endAll(step: (from: WaitingPosition) => Promise<FailedPage>): Promise<number[]> {
  const sizes: number[] = []
  for (let from: WaitingPosition | undefined = firstWaiting; from; ) {
    const { failed, next } = await step(from)
    sizes.push(failed)
    from = next
  }
  return sizes
}

const expire = () =>
  endAll((from) => expireMessages(db, fence, deviceId, from, { ttlMs: 72 * hourMs, sentence: 'x' }))
const failUnlinked = () => endAll((from) => failUnlinkedMessages(db, fence, deviceId, from, 'x'))
const listExpired = async () =>
  (await listDevicesWithExpired(db, [fence.shard], 72 * hourMs)).map(({ id }) => id)
const isWorking = async () =>
  (await listDevicesWithWork(db, [fence.shard])).find(({ id }) => id === deviceId)?.hasWaiting

describe('expiry', () => {
  it('fails at most 200 messages in one statement, scheduled ones by their own time', async () => {
    await insertWaiting(500, { at: '-73 hours' })
    await insertWaiting(240, { at: '-80 hours', sendAt: '-73 hours' })
    await insertWaiting(5, { at: '-71 hours' })
    await insertWaiting(5, { at: '-80 hours', sendAt: '-71 hours' })
    await insertWaiting(5, { at: '-80 hours', sendAt: '1 hour' })
    expect(await listExpired()).toContain(deviceId)
    expect(await expire()).toEqual([200, 200, 100, 200, 40])
    expect(await listExpired()).not.toContain(deviceId)
    expect(await countWaitingMessages(db, deviceId, 100)).toBe(15)
  })

  it('a former owner cannot expire messages', async () => {
    await insertWaiting(1, { at: '-73 hours' })
    fence = { ...fence, epoch: 6 }
    await expect(expire()).rejects.toThrow(OwnershipLost)
  })

  it('finds a message that is older than any that is still sent', async () => {
    await db.$client`CREATE TABLE IF NOT EXISTS messages_of_old PARTITION OF messages FOR VALUES FROM ('2020-01-02') TO ('2020-01-09')`
    await insertWaiting(1, { at: '0' })
    await db.$client`UPDATE messages SET created_at = '2020-01-03' WHERE device_id = ${deviceId}`
    expect(await listWaitingMessages(db, deviceId, list)).toEqual([])
    expect(await listExpired()).toContain(deviceId)
    expect(await expire()).toEqual([1, 0])
  })
})

describe('messages of a former link', () => {
  it('fail in limited statements when the device is unlinked, scheduled ones as well', async () => {
    await insertWaiting(300)
    await insertWaiting(220, { sendAt: '10 days' })
    expect(await failUnlinked()).toEqual([0, 0, 0, 0])
    await db.$client`UPDATE devices SET has_credentials = false WHERE id = ${deviceId}`
    expect(await failUnlinked()).toEqual([200, 100, 200, 20])
    const rows =
      await db.$client`SELECT DISTINCT error_code AS code FROM messages WHERE device_id = ${deviceId}`
    expect(rows).toEqual([{ code: 'sender_logged_out' }])
  })

  it('fail after another link, whose own messages do not', async () => {
    await insertWaiting(3)
    await insertWaiting(2, { generation: 2 })
    await db.$client`UPDATE devices SET link_generation = 2 WHERE id = ${deviceId}`
    expect(await failUnlinked()).toEqual([3, 0])
    expect(await countWaitingMessages(db, deviceId, 9)).toBe(2)
  })

  it('are neither listed nor claimed, also before they have failed', async () => {
    await insertWaiting(2)
    const [read] = await listWaitingMessages(db, deviceId, list)
    if (!read) throw new Error('The message was not listed')
    const claim = { ...read, fence, recipientJid: 'x@s.whatsapp.net', setback: null }
    // The device is unlinked and linked again between the read and the claim.
    await db.$client`UPDATE devices SET has_credentials = false WHERE id = ${deviceId}`
    expect(await claimMessages(db, [claim])).toEqual([undefined])
    await db.$client`UPDATE devices SET has_credentials = true, link_generation = 2 WHERE id = ${deviceId}`
    expect(await claimMessages(db, [claim])).toEqual([undefined])
    expect(await listWaitingMessages(db, deviceId, list)).toEqual([])
    await db.$client`UPDATE devices SET link_generation = 1 WHERE id = ${deviceId}`
    expect(await claimMessages(db, [claim])).toEqual([{ interruptions: 0, isOptedOut: false }])
  })
})

describe('scheduled messages', () => {
  it('count as work only when they are due', async () => {
    await insertWaiting(3, { sendAt: '1 hour' })
    expect(await isWorking()).toBe(false)
    await insertWaiting(1, { at: '-1 hour', sendAt: '-1 minute' })
    expect(await isWorking()).toBe(true)
    expect(await listWaitingMessages(db, deviceId, list)).toHaveLength(1)
  })

  it('that are not due cost neither the poll nor the list of due messages anything', async () => {
    await insertWaiting(10_000, { sendAt: '10 days' })
    await insertWaiting(2)
    await db.$client`ANALYZE messages`
    for (const read of [isWorking, () => listWaitingMessages(db, deviceId, list)]) {
      expect(await countReads(db, read)).toBeLessThan(1000)
    }
  })

  it.each([
    ['ready', null],
    ['due', '-1 minute'],
  ])('the poll reads one of them, however many are %s', async (_, sendAt) => {
    await insertWaiting(20_000, { sendAt })
    await db.$client`ANALYZE messages`
    expect(await isWorking()).toBe(true)
    expect(await countReads(db, isWorking)).toBeLessThan(100)
  })

  it('are sent after as long as send_at and MESSAGE_TTL_MS allow', async () => {
    const startsAt = new Date(Date.now() - 61 * 24 * hourMs).toISOString().slice(0, 10)
    await db.$client.unsafe(
      `CREATE TABLE messages_long_ago PARTITION OF messages FOR VALUES FROM ('${startsAt} 00:00Z') TO ('${startsAt} 24:00Z')`,
    )
    await insertWaiting(1, { sendAt: '-29 days' })
    await db.$client`UPDATE messages SET created_at = ${startsAt}::timestamptz + interval '23 hours' WHERE device_id = ${deviceId}`
    expect(await isWorking()).toBe(true)
    expect(await listWaitingMessages(db, deviceId, list)).toHaveLength(1)
  })
})

test('the next messages of several devices are read in one query, each without its exceptions', async () => {
  await insertWaiting(3)
  await insertWaiting(1, { at: '-1 hour', sendAt: '-1 minute' })
  await insertWaiting(1, { sendAt: '1 hour' })
  await insertWaiting(1, { generation: 2 })
  const all = await listWaitingMessages(db, deviceId, list)
  const ids = all.map(({ id }) => id)
  const reads = [[], ids.slice(0, 2), ids].map((except) => ({ deviceId, priority: normalPriority, except }))
  const found = await listNextMessages(db, [{ deviceId: 0, priority: normalPriority, except: [] }, ...reads])
  expect(found).toEqual([[], all, all.slice(2), []])
})

describe('a clock of Postgres that was set back', () => {
  it('hides no message that was accepted before', async () => {
    await insertWaiting(1, { at: '60 seconds' })
    expect(await isWorking()).toBe(true)
    const [message] = await listWaitingMessages(db, deviceId, list)
    expect(message).toBeDefined()
  })
})

describe('keys of a device', () => {
  it('are wiped in limited statements, the credentials last', async () => {
    await db.$client`
      INSERT INTO device_auth (device_id, type, id, value)
      SELECT ${deviceId}::int, 'session', n::text, ''::bytea FROM generate_series(1, 12000) AS n
      UNION ALL SELECT ${deviceId}::int, 'creds', '', ''`
    const steps: unknown[] = []
    for (let isWiped = false; !isWiped; ) {
      isWiped = await wipeCredentials(db, fence, deviceId, 'gone')
      const [left] = await db.$client<{ keys: number; creds: number; linked: boolean }[]>`
        SELECT (count(*) FILTER (WHERE type = 'session'))::int AS keys,
          (count(*) FILTER (WHERE type = 'creds'))::int AS creds,
          (SELECT has_credentials FROM devices WHERE id = ${deviceId}) AS linked
        FROM device_auth WHERE device_id = ${deviceId}`
      steps.push(left)
    }
    expect(steps).toEqual([
      { keys: 7000, creds: 1, linked: true },
      { keys: 2000, creds: 1, linked: true },
      { keys: 0, creds: 0, linked: false },
    ])
  })

  it('keep a deleted device from being removed until they are wiped, and so does a waiting message', async () => {
    await db.$client`UPDATE devices SET deleted_at = now() - interval '1 minute', has_credentials = false WHERE id = ${deviceId}`
    await db.$client`INSERT INTO device_auth (device_id, type, id, value) VALUES (${deviceId}, 'session', '1', '')`
    await insertWaiting(1, { sendAt: '1 day' })
    const isThere = async () => (await findDeviceStates(db, [deviceId]))[0] !== undefined
    await removeDevice(db, fence, deviceId)
    expect(await isThere()).toBe(true)
    expect(await wipeCredentials(db, fence, deviceId, null)).toBe(true)
    await removeDevice(db, fence, deviceId)
    expect(await isThere()).toBe(true)
    await failUnlinked()
    await removeDevice(db, fence, deviceId)
    expect(await isThere()).toBe(false)
  })
})
