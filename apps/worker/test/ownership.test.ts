import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type Cluster,
  endless,
  makeRecordingHolder,
  openCluster,
  quick,
  shards,
  type TestWorker,
} from './ownership-cluster.ts'

let cluster: Cluster

beforeEach(async () => {
  cluster = await openCluster()
})
afterEach(() => cluster.close())

test('shares all shards fairly, and a worker that joins moves only what it must', async () => {
  const first = await cluster.startWorker('first', endless)
  await owns(first, 256)

  const second = await cluster.startWorker('second', endless)
  await owns(first, 128)
  await owns(second, 128)

  const third = await cluster.startWorker('third', endless)
  await owns(first, 86)
  await owns(second, 85)
  await owns(third, 85)

  expect(first.holder.taken).toHaveLength(256)
  expect(second.holder.taken).toHaveLength(128)
  expect(third.holder.taken).toHaveLength(85)
  for (const worker of [first, second, third])
    for (const { why } of worker.holder.dropped) expect(why).toBe('released')
  await everyShardHasOneHolder([first, second, third])
})

test('moves shards without linked devices first', async () => {
  await addLinkedDevices(10)
  const first = await cluster.startWorker('first', endless, { holder: holderOfLinked(10) })
  await owns(first, 256)
  const second = await cluster.startWorker('second', endless)
  await owns(second, 128)
  for (let shard = 0; shard < 10; shard++) expect(first.holder.leases.has(shard)).toBe(true)
})

test('a worker that stops hands its shards over within a second', async () => {
  const [first, second] = await startPair(endless)
  const leases = [...first.holder.leases.values()]
  const startedMs = performance.now()
  await Promise.all([first.close(), owns(second, 256)])
  expect(performance.now() - startedMs).toBeLessThan(1000)
  expect(first.holder.dropped.filter(({ why }) => why === 'released')).toHaveLength(256)
  expect(leases.some((lease) => lease.isValid())).toBe(false)
  expect(await statesByName()).toEqual({ first: 'dead', second: 'live' })
})

test('leases stay valid while a stopping worker finishes what is on the wire', async () => {
  let finish = () => {}
  const wire = new Promise<void>((resolve) => {
    finish = resolve
  })
  const holder = makeRecordingHolder({ drop: () => wire })
  const worker = await cluster.startWorker('first', quick, { holder })
  await owns(worker, 256)
  const [lease] = holder.leases.values()
  const stopped = worker.close()
  await vi.waitFor(async () => expect(await statesByName()).toEqual({ first: 'draining' }))
  expect(lease?.isValid()).toBe(true)
  finish()
  await stopped
  expect(lease?.isValid()).toBe(false)
})

test('a worker that was killed loses its shards at the end of its lease', async () => {
  const [first, second] = await startPair(quick)
  const before = await epochs()
  const orphans = [...second.holder.leases.keys()]
  second.proxy.cut()
  await owns(first, 256)
  const after = await epochs()
  for (const shard of orphans) expect(after.get(shard)).toBe((before.get(shard) ?? 0) + 1)
  for (const lease of second.holder.leases.values()) expect(lease.isValid()).toBe(false)
})

test('a restart under the same name takes the shards back without waiting for the lease', async () => {
  const [killed, other] = await startPair(endless)
  killed.proxy.cut()
  const restarted = await cluster.startWorker('first', endless)
  await owns(restarted, 128)
  expect(restarted.holder.taken).toHaveLength(128)
  expect(other.holder.leases.size).toBe(128)
})

test('two workers of one name come to share the shards instead of replacing each other', async () => {
  const first = await cluster.startWorker('same', quick)
  await owns(first, 256)
  const second = await cluster.startWorker('same', quick)
  await owns(first, 128)
  await owns(second, 128)
  expect(Object.keys(await statesByName())).toHaveLength(2)
})

test('after an outage longer than the lease everybody renews and nobody reaps the living', async () => {
  const leaseTtlMs = 3000
  const [first, second] = await startPair({ ...quick, leaseTtlMs })
  const ids = [first.id(), second.id()]
  const held = [...first.holder.leases.values(), ...second.holder.leases.values()]
  for (const worker of [first, second]) worker.proxy.cut()
  await vi.waitFor(async () => expect(await lapsed()).toBe(2), eventually)
  expect(held.some((lease) => lease.isValid())).toBe(false)

  first.proxy.heal()
  // The first one looks at the lapsed lease of the second one several times.
  await vi.waitFor(async () => expect(await renewedForMs('first')).toBeGreaterThan(500), eventually)
  second.proxy.heal()
  await vi.waitFor(() => expect(held.every((lease) => lease.isValid())).toBe(true), eventually)

  // By now the first one has the right to reap again.
  await vi.waitFor(
    async () => expect(await renewedForMs('first')).toBeGreaterThan(leaseTtlMs + 300),
    eventually,
  )
  expect([first.id(), second.id()]).toEqual(ids)
  expect([...first.holder.leases.values(), ...second.holder.leases.values()]).toEqual(held)
})

test('a worker that wakes up after its lease drops all as lost and goes on under a fresh id', async () => {
  const [first, zombie] = await startPair(quick)
  const formerId = zombie.id()
  const leases = [...zombie.holder.leases.values()]
  zombie.proxy.freeze()
  await owns(first, 256)
  expect(leases.some((lease) => lease.isValid())).toBe(false)

  zombie.proxy.heal()
  await vi.waitFor(
    () => expect(zombie.holder.dropped.filter(({ why }) => why === 'lost')).toHaveLength(128),
    eventually,
  )
  await owns(zombie, 128)
  await owns(first, 128)
  expect(zombie.id()).not.toBe(formerId)
  await everyShardHasOneHolder([first, zombie])
})

test('a shard of which a write found another owner is dropped at once', async () => {
  const [first] = await startPair(endless)
  const [lease] = first.holder.leases.values()
  if (!lease) throw new Error('holds nothing')
  await cluster.db
    .$client`UPDATE shard_leases SET owner = NULL, epoch = epoch + 1 WHERE shard = ${lease.shard}`
  first.lose(lease.shard)
  expect(lease.isValid()).toBe(false)
  await vi.waitFor(() => expect(first.holder.dropped).toContainEqual({ shard: lease.shard, why: 'lost' }))
  expect(first.state().workerId).toBe(lease.workerId)
})

test('notices by itself that a shard has another owner', async () => {
  const worker = await cluster.startWorker('first', endless)
  await owns(worker, 256)
  await cluster.db.$client`UPDATE shard_leases SET epoch = epoch + 1 WHERE shard = 5`
  await vi.waitFor(() => expect(worker.holder.dropped).toEqual([{ shard: 5, why: 'lost' }]), eventually)
  await owns(worker, 256)
  expect(worker.holder.leases.get(5)?.epoch).toBe((await epochs()).get(5))
})

test('claims anew what could not be taken', async () => {
  let failures = 0
  const holder = makeRecordingHolder({
    async take() {
      failures += 1
      if (failures <= 2) throw new Error('The devices cannot be read')
    },
  })
  const worker = await cluster.startWorker('first', endless, { holder })
  await owns(worker, 256)
  expect(new Set((await epochs()).values())).toEqual(new Set([3]))
})

test('leaves shards unowned that nobody has room for, and says so, until somebody has', async () => {
  await addLinkedDevices(10)
  const small = await cluster.startWorker('small', endless, { capacity: 4, holder: holderOfLinked(10) })
  await vi.waitFor(() => expect(small.state().unplacedShards).toBe(6), eventually)
  await owns(small, 250)
  expect(small.state().linkedDevices).toBe(4)

  const large = await cluster.startWorker('large', endless, { capacity: 100, holder: holderOfLinked(10) })
  await vi.waitFor(() => expect(small.state().unplacedShards).toBe(0), eventually)
  await owns(large, 128)
  await owns(small, 128)
})

test('a worker with room takes more than its share when the others have none', async () => {
  await addLinkedDevices(256)
  const small = await cluster.startWorker('small', endless, { capacity: 20, holder: holderOfLinked(256) })
  await owns(small, 20)
  const large = await cluster.startWorker('large', endless, { capacity: 500, holder: holderOfLinked(256) })
  await owns(large, 236)
  expect(small.holder.dropped).toEqual([])
})

test('stops although Postgres is away', async () => {
  const worker = await cluster.startWorker('first', quick)
  await owns(worker, 256)
  worker.proxy.cut()
  await worker.close()
  expect(worker.holder.dropped).toHaveLength(256)
})

const eventually = { timeout: 15_000, interval: 10 }

async function owns(worker: TestWorker, count: number): Promise<void> {
  await vi.waitFor(() => expect(worker.holder.leases.size).toBe(count), eventually)
}

async function startPair(timing: typeof quick): Promise<[TestWorker, TestWorker]> {
  const first = await cluster.startWorker('first', timing)
  await owns(first, 256)
  const second = await cluster.startWorker('second', timing)
  await owns(first, 128)
  await owns(second, 128)
  return [first, second]
}

async function everyShardHasOneHolder(workers: TestWorker[]): Promise<void> {
  const held = workers.flatMap(({ holder }) => [...holder.leases.values()])
  expect(new Set(held.map(({ shard }) => shard)).size).toBe(shards)
  expect(held).toHaveLength(shards)
  const newest = await epochs()
  for (const { shard, epoch } of held) expect(newest.get(shard)).toBe(epoch)
}

async function epochs(): Promise<Map<number, number>> {
  const rows = await cluster.db.$client<{ shard: number; epoch: number }[]>`
    SELECT shard, epoch::int FROM shard_leases`
  return new Map(rows.map(({ shard, epoch }) => [shard, epoch]))
}

async function statesByName(): Promise<Record<string, string>> {
  const rows = await cluster.db.$client<{ name: string; state: string }[]>`
    SELECT name, state FROM workers ORDER BY started_at`
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]))
}

async function lapsed(): Promise<number> {
  const rows = await cluster.db.$client`SELECT FROM workers WHERE state = 'live' AND lease_until < now()`
  return rows.length
}

async function renewedForMs(name: string): Promise<number> {
  const [row] = await cluster.db.$client<{ ms: number }[]>`
    SELECT (extract(epoch FROM now() - renewed_since) * 1000)::int AS ms
    FROM workers WHERE name = ${name} AND lease_until >= now()`
  return row?.ms ?? 0
}

/** One device in each of the first shards. */
async function addLinkedDevices(count: number): Promise<void> {
  const sql = cluster.db.$client
  await sql`INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a@b', '', 'USER', 999)`
  await sql`
    INSERT INTO devices (id, shard, account_id, sender, name, has_credentials)
    SELECT n, n, accounts.id, (490000000 + n)::text, '', true
    FROM accounts, generate_series(0, ${count - 1}::int) AS device (n)`
}

function holderOfLinked(count: number) {
  const holder = makeRecordingHolder()
  for (let shard = 0; shard < count; shard++) holder.linked.set(shard, 1)
  return holder
}
