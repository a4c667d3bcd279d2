import { randomUUID } from 'node:crypto'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { storeAuthWrites } from '../src/queries/credentials/device-auth.ts'
import { releaseDevices } from '../src/queries/devices/device-owner-view.ts'
import { type Fence, fenceOf, fencesOf, OwnershipLost } from '../src/queries/statements/fence.ts'
import {
  claimShards,
  countOpeningDevices,
  describeShards,
  describeShardsOwnedBy,
  freeShardsOfDeadWorkers,
  listUnownedShards,
  parseShards,
  releaseShards,
} from '../src/queries/workers/shard-leases.ts'
import { markGoneWorkersDead, registerWorker, unregisterWorker } from '../src/queries/workers/workers.ts'

const leaseTtlMs = 60_000
const allShards = Array.from({ length: 256 }, (_, shard) => shard)
let server: TestDatabase
let db: Database
let sql: Database['$client']

beforeAll(async () => {
  server = await createTestDatabase()
  db = openDatabase(server.url, { poolSize: 25, applicationName: 'test', statementTimeoutMs: 4000 })
  sql = db.$client
  await sql`INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a@b', '', 'USER', 9)`
  await sql`
    INSERT INTO devices (id, shard, account_id, sender, name, has_credentials)
    SELECT device.id, device.id % 256, accounts.id, '49' || n, '', n <> 3
    FROM accounts, unnest(ARRAY[5, 261, 517, 6], ARRAY[1, 2, 3, 4]) AS device (id, n)`
})
beforeEach(async () => {
  await sql`UPDATE shard_leases SET owner = NULL`
  await sql`DELETE FROM workers`
})
afterAll(async () => {
  await closeDatabase(db)
  await server.drop()
})

const listOwned = async (id: string) => parseShards(await describeShardsOwnedBy(db, id))

test('49 workers that claim, release and die at the same time never own a shard together', async () => {
  const ids = await Promise.all(Array.from({ length: 49 }, () => register()))
  let claimed = 0
  let taken = 0

  async function live(id: string, rounds: number): Promise<void> {
    if (rounds === 0) return
    const mine = await claimShards(db, id, allShards)
    const still = new Set((await listOwned(id)).map(({ shard }) => shard))
    claimed += mine.length
    taken += mine.filter(({ shard }) => !still.has(shard)).length
    if (rounds % 2 === 0) {
      await releaseShards(db, id, mine)
      return await live(id, rounds - 1)
    }
    await unregisterWorker(db, id)
    await freeShardsOfDeadWorkers(db)
    await live(await register(), rounds - 1)
  }
  await Promise.all(ids.map((id) => live(id, 12)))

  expect(claimed).toBeGreaterThan(1000)
  expect(taken).toBe(0)
})

test('claims only for a live worker within its lease', async () => {
  const [draining, lapsed, dead] = [await register(), await register(), await register()]
  await sql`UPDATE workers SET state = 'draining' WHERE id = ${draining}`
  await sql`UPDATE workers SET lease_until = now() - interval '1 ms' WHERE id = ${lapsed}`
  await unregisterWorker(db, dead)
  for (const id of [draining, lapsed, dead, randomUUID()]) expect(await claimShards(db, id, [1])).toEqual([])
})

test('releases only shards that are still owned with that epoch', async () => {
  const [former, owner] = [await register(), await register()]
  const before = await claimShards(db, former, [7])
  await releaseShards(db, former, before)
  const now = await claimShards(db, owner, [7])
  await releaseShards(db, former, before)
  await releaseShards(
    db,
    owner,
    now.map(({ shard, epoch }) => ({ shard, epoch: epoch - 1 })),
  )
  expect(await listOwned(owner)).toEqual(now)
  expect(await describeShardsOwnedBy(db, owner)).toBe(describeShards(now.toReversed()))
})

test('counts the linked devices of unowned shards', async () => {
  const unowned = new Map((await listUnownedShards(db)).map(({ shard, linked }) => [shard, linked]))
  expect(unowned.size).toBe(256)
  expect([unowned.get(4), unowned.get(5), unowned.get(6)]).toEqual([0, 2, 1])
})

test('released devices are offline, and wait for their turn to log in', async () => {
  const { former, owner, before, now } = await changeOwner(5)
  await sql`UPDATE devices SET connection = 'online', offline_since = NULL WHERE shard = 5`
  await releaseDevices(db, [{ shard: 5, workerId: former, epoch: before }])
  expect(await countOpeningDevices(db, [5])).toBe(0)
  await releaseDevices(db, [{ shard: 5, workerId: owner, epoch: now }])
  expect(await countOpeningDevices(db, [5])).toBe(2)
  expect(await countOpeningDevices(db, [6])).toBe(0)
  expect(await sql`SELECT DISTINCT connection FROM devices WHERE shard = 5`).toEqual([
    { connection: 'offline' },
  ])
  await sql`UPDATE devices SET offline_since = now() - interval '11 s' WHERE shard = 5`
  expect(await countOpeningDevices(db, [5])).toBe(0)
})

test("a former owner's fenced write changes nothing", async () => {
  const { former, owner, before, now } = await changeOwner(3)
  expect(await write(3, former, before)).toBe(0)
  expect(await write(3, former, now)).toBe(0)
  expect(await write(3, owner, before)).toBe(0)
  expect(await write(3, owner, now)).toBe(1)
})

test('only the fences that hold are valid in a batch', async () => {
  const { former, owner, before, now } = await changeOwner(3)
  const [kept] = await claimShards(db, former, [2])
  const fences = [
    { shard: 3, workerId: former, epoch: before },
    { shard: 2, workerId: former, epoch: kept?.epoch ?? 0 },
  ]
  const validOf = async (given: Fence[]) => (await sql`${fencesOf(sql, given)}`).map(({ shard }) => shard)
  expect(await validOf(fences)).toEqual([2])
  const all = [...fences, { shard: 3, workerId: owner, epoch: now }]
  expect(await validOf(all)).toEqual([2, 3])
})

test('a fence of an earlier lease of the same worker does not hold', async () => {
  const owner = await register()
  const [earlier] = await claimShards(db, owner, [40])
  await releaseShards(db, owner, earlier ? [earlier] : [])
  const [present] = await claimShards(db, owner, [40])
  const fences = [earlier, present].map((owned) => ({ shard: 40, workerId: owner, epoch: owned?.epoch ?? 0 }))
  for (const [index, fence] of fences.entries()) {
    const shards = index === 0 ? [] : [40]
    const holds = async (query: ReturnType<typeof fenceOf>) => (await sql`${query}`).map(({ shard }) => shard)
    expect(await holds(fenceOf(sql, fence))).toEqual(shards)
    expect(await holds(fencesOf(sql, [fence]))).toEqual(shards)
  }
})

test('refuses a late write of an earlier lease in one batch with a write of the present lease', async () => {
  const owner = await register()
  const [earlier] = await claimShards(db, owner, [5])
  await releaseShards(db, owner, earlier ? [earlier] : [])
  const [present] = await claimShards(db, owner, [5])
  const write = (lease: typeof present, value: string) => ({
    fence: { shard: 5, workerId: owner, epoch: lease?.epoch ?? 0 },
    deviceId: 5,
    rows: [{ type: 'session', id: value, value: Buffer.from(value) }],
  })
  const answers = await storeAuthWrites(db, [write(earlier, 'late'), write(present, 'present')])
  expect(answers.map((answer) => answer instanceof OwnershipLost)).toEqual([true, false])
  expect(await sql`SELECT id FROM device_auth WHERE device_id = 5`).toEqual([{ id: 'present' }])
})

test('a takeover skips a shard while a fenced write of it runs', async () => {
  const [owner, other] = [await register(), await register()]
  const claimed = await claimShards(db, owner, [8, 9])
  const epoch = claimed.find(({ shard }) => shard === 8)?.epoch ?? 0
  const writing = await sql.reserve()
  await writing`BEGIN`
  expect(
    await writing`SELECT FROM (${fenceOf(sql, { shard: 8, workerId: owner, epoch })}) AS fence`,
  ).toHaveLength(1)
  await unregisterWorker(db, owner)

  expect(await freeShardsOfDeadWorkers(db)).toBe(1)
  expect((await claimShards(db, other, [8, 9])).map(({ shard }) => shard)).toEqual([9])
  await writing`COMMIT`
  writing.release()
  expect(await freeShardsOfDeadWorkers(db)).toBe(1)
  expect((await claimShards(db, other, [8])).map(({ shard }) => shard)).toEqual([8])
})

test('a fenced write that waited for a takeover changes nothing', async () => {
  const { former, before } = await claimOne(4)
  const takeover = await sql.reserve()
  await takeover`BEGIN`
  await takeover`UPDATE shard_leases SET owner = NULL, epoch = epoch + 1 WHERE shard = 4`
  const late = write(4, former, before)
  await untilSomebodyWaits('Lock')
  await takeover`COMMIT`
  takeover.release()
  expect(await late).toBe(0)
})

test('frees the shards of dead workers only', async () => {
  const [living, dying] = [await register(), await register()]
  await claimShards(db, living, [1, 2])
  await claimShards(db, dying, [3])
  await sql`UPDATE workers SET lease_until = now() - interval '1 ms' WHERE id = ${dying}`
  await sql`UPDATE workers SET renewed_since = now() - interval '1 hour' WHERE id = ${living}`
  expect(await freeShardsOfDeadWorkers(db)).toBe(0)
  expect(await markGoneWorkersDead(db, { id: living, leaseTtlMs, silentMs: leaseTtlMs })).toMatchObject([
    { id: dying },
  ])
  expect(await freeShardsOfDeadWorkers(db)).toBe(1)
  expect(await listOwned(living)).toHaveLength(2)
})

async function untilSomebodyWaits(what: 'Lock' | 'Timeout'): Promise<void> {
  await vi.waitFor(async () => {
    const waiting = await sql`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = ${what}`
    expect(waiting).toHaveLength(1)
  }, eventually)
}

async function register(): Promise<string> {
  const id = randomUUID()
  await registerWorker(db, { id, name: id, capacity: 500, leaseTtlMs })
  return id
}

async function claimOne(shard: number): Promise<{ former: string; before: number }> {
  const former = await register()
  const [claimed] = await claimShards(db, former, [shard])
  return { former, before: claimed?.epoch ?? 0 }
}

async function changeOwner(shard: number) {
  const { former, before } = await claimOne(shard)
  await releaseShards(db, former, [{ shard, epoch: before }])
  const owner = await register()
  const [claimed] = await claimShards(db, owner, [shard])
  return { former, owner, before, now: claimed?.epoch ?? 0 }
}

async function write(shard: number, workerId: string, epoch: number): Promise<number> {
  const rows = await sql`
    WITH fence AS (${fenceOf(sql, { shard, workerId, epoch })})
    UPDATE installation SET shards = shards FROM fence RETURNING id`
  return rows.length
}
