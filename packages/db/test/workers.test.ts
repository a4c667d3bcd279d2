import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../devnet/src/test-database.ts'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { claimShards } from '../src/queries/shard-leases.ts'
import {
  deleteDeadWorkers,
  listLiveWorkers,
  markLapsedWorkersDead,
  markWorkerDraining,
  registerWorker,
  registerWorkerAgain,
  renewWorker,
  unregisterWorker,
} from '../src/queries/workers.ts'

const leaseTtlMs = 6000
let server: TestDatabase
let db: Database
let sql: Database['$client']

beforeAll(async () => {
  server = await createTestDatabase()
  db = openDatabase(server.url, { poolSize: 5, applicationName: 'test', statementTimeoutMs: 4000 })
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

test('a start under the name of a living worker marks that one dead at once', async () => {
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

test('a worker that was replaced comes back beside the one that has its name', async () => {
  const name = 'a'
  await register(name)
  const holder = await register(name)
  const id = randomUUID()
  const given = await registerWorkerAgain(db, { id, name, capacity: 1, leaseTtlMs })
  expect(given).toBe(`a ${id.slice(0, 8)}`)
  expect((await states()).get(holder)).toBe('live')
})

test('a worker that was marked dead gets its name back when it is free', async () => {
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
  const dead = await markLapsedWorkersDead(db, { id: reaper, leaseTtlMs })
  expect(dead.map(({ id }) => id).sort()).toEqual([lapsed, draining].sort())
  expect((await states()).get(living)).toBe('live')
})

test('reaps nobody before its own lease was renewed for one full TTL', async () => {
  const reaper = await register('reaper')
  const lapsed = await register('a')
  await lapse(lapsed)
  expect(await markLapsedWorkersDead(db, { id: reaper, leaseTtlMs })).toEqual([])
  await sql`UPDATE workers SET renewed_since = now() - interval '6001 ms' WHERE id = ${reaper}`
  expect(await markLapsedWorkersDead(db, { id: reaper, leaseTtlMs })).toHaveLength(1)
})

test('a gap in its own renewals takes the right to reap away', async () => {
  const reaper = await registerLongAgo('reaper')
  const lapsed = await register('a')
  await lapse(lapsed)
  await lapse(reaper)
  expect(await markLapsedWorkersDead(db, { id: reaper, leaseTtlMs })).toEqual([])
  expect(await renewWorker(db, reaper, leaseTtlMs)).toBe(true)
  expect(await markLapsedWorkersDead(db, { id: reaper, leaseTtlMs })).toEqual([])
})

test('renewing in time keeps the right to reap', async () => {
  const reaper = await registerLongAgo('reaper')
  const lapsed = await register('a')
  await lapse(lapsed)
  await renewWorker(db, reaper, leaseTtlMs)
  expect(await markLapsedWorkersDead(db, { id: reaper, leaseTtlMs })).toHaveLength(1)
})

test('lists live workers in the order of their start, with what they own', async () => {
  const [first, second, draining] = [await register('b'), await register('a'), await register('c')]
  await claimShards(db, second, [1, 2, 3])
  await markWorkerDraining(db, draining)
  expect(await listLiveWorkers(db)).toEqual([
    { id: first, capacity: 500, owned: 0 },
    { id: second, capacity: 500, owned: 3 },
  ])
})

test('deletes workers that are long dead, unless they still own a shard', async () => {
  const [owner, gone, fresh] = [await register('a'), await register('b'), await register('c')]
  await claimShards(db, owner, [1])
  await sql`UPDATE workers SET state = 'dead'`
  await sql`UPDATE workers SET lease_until = now() - interval '25 hours' WHERE id IN (${owner}, ${gone})`
  await deleteDeadWorkers(db)
  expect([...(await states()).keys()].sort()).toEqual([owner, fresh].sort())
})

async function register(name: string): Promise<string> {
  const id = randomUUID()
  await registerWorker(db, { id, name, capacity: 500, leaseTtlMs })
  return id
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
