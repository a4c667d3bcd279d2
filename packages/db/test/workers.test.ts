import { randomUUID } from 'node:crypto'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { claimShards } from '../src/queries/workers/shard-leases.ts'
import {
  deleteDeadWorkers,
  listLiveWorkers,
  markGoneWorkersDead,
  markWorkerDraining,
  registerWorker,
  registerWorkerAgain,
  renewWorker,
  unregisterWorker,
} from '../src/queries/workers/workers.ts'

const leaseTtlMs = 6000
const timeouts = { leaseTtlMs, silentMs: leaseTtlMs / 2 }
let server: TestDatabase
let db: Database
let sql: Database['$client']

beforeAll(async () => {
  server = await createTestDatabase()
  db = openTestDatabase()
  sql = db.$client
})
beforeEach(async () => {
  await sql`UPDATE shard_leases SET owner = NULL`
  await sql`DELETE FROM workers`
})
afterAll(async () => {
  await closeDatabase(db)
  await server.drop()
})

test('a worker that starts replaces a live one of its name at once', async () => {
  const [earlier, other] = [await register('a'), await register('b')]
  const later = await register('a')
  expect(await states()).toEqual(
    new Map([
      [earlier, 'dead'],
      [other, 'live'],
      [later, 'live'],
    ]),
  )
  expect(await renewWorker(db, earlier, leaseTtlMs)).toBe(false)
})

test('a replaced worker registers again beside the one that has its name', async () => {
  const name = 'a'
  await register(name)
  const holder = await register(name)
  const id = randomUUID()
  const given = await registerWorkerAgain(db, { id, name, capacity: 1, leaseTtlMs })
  expect(given).toBe(`a ${id.slice(0, 8)}`)
  expect((await states()).get(holder)).toBe('live')
})

test('a worker that was marked dead gets its name back when it is unused', async () => {
  await unregisterWorker(db, await register('a'))
  const again = { id: randomUUID(), name: 'a', capacity: 1, leaseTtlMs }
  expect(await registerWorkerAgain(db, again)).toBe('a')
})

test('marks workers past their lease dead, draining ones as well', async () => {
  const reaper = await registerLongAgo('reaper')
  const [living, lapsed, draining] = [await register('a'), await register('b'), await register('c')]
  await markWorkerDraining(db, draining)
  await lapse(lapsed)
  await lapse(draining)
  const dead = await markGoneWorkersDead(db, { id: reaper, ...timeouts })
  expect(dead.map(({ id }) => id).sort()).toEqual([lapsed, draining].sort())
  expect((await states()).get(living)).toBe('live')
})

test('marks no worker dead before it has renewed its own lease for one full TTL', async () => {
  const reaper = await register('reaper')
  const lapsed = await register('a')
  await lapse(lapsed)
  expect(await markGoneWorkersDead(db, { id: reaper, ...timeouts })).toEqual([])
  await sql`UPDATE workers SET renewed_since = now() - interval '6001 ms' WHERE id = ${reaper}`
  expect(await markGoneWorkersDead(db, { id: reaper, ...timeouts })).toHaveLength(1)
})

test('a worker with a gap in its renewals marks no others dead', async () => {
  const reaper = await registerLongAgo('reaper')
  const lapsed = await register('a')
  await lapse(lapsed)
  await lapse(reaper)
  expect(await markGoneWorkersDead(db, { id: reaper, ...timeouts })).toEqual([])
  expect(await renewWorker(db, reaper, leaseTtlMs)).toBe(true)
  expect(await markGoneWorkersDead(db, { id: reaper, ...timeouts })).toEqual([])
})

test('a worker that renews in time may mark others dead', async () => {
  const reaper = await registerLongAgo('reaper')
  const lapsed = await register('a')
  await lapse(lapsed)
  await renewWorker(db, reaper, leaseTtlMs)
  expect(await markGoneWorkersDead(db, { id: reaper, ...timeouts })).toHaveLength(1)
})

test('a silent worker whose connection has ended is dead before the end of its lease', async () => {
  const reaper = await registerLongAgo('reaper')
  const [killed, stopped] = [await registerOverEndedConnection('a'), await register('b')]
  await sql`SELECT pg_sleep(0.02)`
  expect(await markGoneWorkersDead(db, { id: reaper, leaseTtlMs: 20, silentMs: 10 })).toEqual([
    { id: killed, name: 'a', isPastLease: false },
  ])
  expect((await states()).get(stopped)).toBe('live')
})

test('a worker whose connections have ended has the time of one heartbeat to connect again', async () => {
  const reaper = await registerLongAgo('reaper')
  await registerOverEndedConnection('a')
  expect(await markGoneWorkersDead(db, { id: reaper, ...timeouts })).toEqual([])
})

test('a silent worker with another open connection is not dead', async () => {
  const reaper = await registerLongAgo('reaper')
  await registerOverEndedConnection('a')
  const living = openTestDatabase('a')
  await living.$client`SELECT pg_sleep(0.02)`
  expect(await markGoneWorkersDead(db, { id: reaper, leaseTtlMs: 20, silentMs: 10 })).toEqual([])
  await closeDatabase(living)
})

test('an outage that also ended the own connection is not a death', async () => {
  const reaper = await registerLongAgo('reaper')
  await registerOverEndedConnection('a')
  await sql`SELECT pg_sleep(0.02)`
  await sql`UPDATE workers SET session_pid = 0 WHERE id = ${reaper}`
  expect(await markGoneWorkersDead(db, { id: reaper, leaseTtlMs: 20, silentMs: 10 })).toEqual([])
  const fresh = openTestDatabase()
  await renewWorker(fresh, reaper, leaseTtlMs)
  expect(await markGoneWorkersDead(db, { id: reaper, leaseTtlMs: 20, silentMs: 10 })).toEqual([])
  await closeDatabase(fresh)
})

test('after the clock of Postgres was set back, a worker that died before is dead one lease later', async () => {
  const reaper = await registerLongAgo('reaper')
  const [died, living] = [await register('a'), await register('b')]
  await sql`
    UPDATE workers SET renewed_at = now() + interval '60 s', lease_until = now() + interval '60.1 s'
    WHERE id IN (${died}, ${living})`
  expect(await markGoneWorkersDead(db, { id: reaper, ...timeouts })).toEqual([])
  await renewWorker(db, living, leaseTtlMs)
  await sql`SELECT pg_sleep(0.15)`
  expect(await markGoneWorkersDead(db, { id: reaper, ...timeouts })).toEqual([
    { id: died, name: 'a', isPastLease: true },
  ])
  expect((await states()).get(living)).toBe('live')
})

test('after the clock of Postgres was set back, a worker marks others dead again after one lease', async () => {
  const [reaper, lapsed] = [await register('reaper'), await register('a')]
  await sql`UPDATE workers SET renewed_since = now() + interval '60 s' WHERE id = ${reaper}`
  await lapse(lapsed)
  await renewWorker(db, reaper, leaseTtlMs)
  await sql`SELECT pg_sleep(0.1)`
  expect(await markGoneWorkersDead(db, { id: reaper, leaseTtlMs: 100, silentMs: 50 })).toHaveLength(1)
})

test('after the clock of Postgres was set forward, workers can renew before any is marked dead', async () => {
  const [first, second] = [await registerLongAgo('a'), await registerLongAgo('b')]
  await sql`UPDATE workers SET renewed_at = now() - interval '60 s', lease_until = now() - interval '54 s'`
  expect(await markGoneWorkersDead(db, { id: first, ...timeouts })).toEqual([])
  await renewWorker(db, first, leaseTtlMs)
  expect(await markGoneWorkersDead(db, { id: first, ...timeouts })).toEqual([])
  expect(await renewWorker(db, second, leaseTtlMs)).toBe(true)
})

test('lists live workers in the order of their start, with the number of their shards', async () => {
  const [first, second, draining] = [await register('b'), await register('a'), await register('c')]
  await claimShards(db, second, [1, 2, 3])
  await markWorkerDraining(db, draining)
  expect(await listLiveWorkers(db, timeouts)).toEqual([
    { id: first, capacity: 500, owned: 0, deathInMs: expect.any(Number), isSuspect: false },
    { id: second, capacity: 500, owned: 3, deathInMs: expect.any(Number), isSuspect: false },
  ])
})

test('suspects a worker that is silent, or whose renewal is in the future', async () => {
  const id = await register('a')
  const isSuspect = async (silentMs: number) => {
    await sql`UPDATE workers SET renewed_at = now() - ${silentMs} * interval '1 ms' WHERE id = ${id}`
    return (await listLiveWorkers(db, { leaseTtlMs: 600_000, silentMs: 60_000 }))[0]?.isSuspect
  }
  expect(await isSuspect(0)).toBe(false)
  expect(await isSuspect(60_100)).toBe(true)
  expect(await isSuspect(700_000)).toBe(true)
  expect(await isSuspect(-60_000)).toBe(true)
})

test('tells when a silent worker can be marked dead', async () => {
  const id = await register('a')
  const deathInMs = async () => (await listLiveWorkers(db, timeouts))[0]?.deathInMs
  const silent = (ms: number) =>
    sql`UPDATE workers SET renewed_at = now() - ${ms} * interval '1 ms' WHERE id = ${id}`
  expect(await deathInMs()).toBeLessThanOrEqual(leaseTtlMs / 2)
  await silent(leaseTtlMs / 2 + 1)
  expect(await deathInMs()).toBeGreaterThan(0)
  await silent(leaseTtlMs + 1)
  expect(await deathInMs()).toBe(null)
})

test('deletes workers that died long ago, unless they still own a shard', async () => {
  const [owner, gone, fresh] = [await register('a'), await register('b'), await register('c')]
  await claimShards(db, owner, [1])
  await sql`UPDATE workers SET state = 'dead'`
  await sql`UPDATE workers SET lease_until = now() - interval '25 hours' WHERE id IN (${owner}, ${gone})`
  await deleteDeadWorkers(db)
  expect([...(await states()).keys()].sort()).toEqual([owner, fresh].sort())
})

function openTestDatabase(applicationName = 'test'): Database {
  return openDatabase(server.url, { poolSize: 5, applicationName, statementTimeoutMs: 4000 })
}

async function register(name: string): Promise<string> {
  const id = randomUUID()
  await registerWorker(db, { id, name, capacity: 500, leaseTtlMs })
  return id
}

async function registerOverEndedConnection(name: string): Promise<string> {
  const id = randomUUID()
  const elsewhere = openTestDatabase(name)
  await registerWorker(elsewhere, { id, name, capacity: 500, leaseTtlMs })
  await closeDatabase(elsewhere)
  return until('its session has ended', async () => {
    const sessions = await sql`
      SELECT FROM workers JOIN pg_stat_activity ON pid = session_pid AND backend_start = session_since
      WHERE id = ${id}`
    return sessions.length === 0 && id
  })
}

async function registerLongAgo(name: string): Promise<string> {
  const id = await register(name)
  await sql`UPDATE workers SET renewed_since = now() - interval '1 hour' WHERE id = ${id}`
  return id
}

async function lapse(id: string): Promise<void> {
  await sql`UPDATE workers SET lease_until = now() - interval '1 ms' WHERE id = ${id}`
}

async function states(): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; state: string }[]>`SELECT id, state FROM workers`
  return new Map(rows.map(({ id, state }) => [id, state]))
}
