import { closeDatabase, openDatabase } from '@wagate/db/client'
import { fenceOf } from '@wagate/db/queries/fence'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type Cluster,
  endless,
  epochsOf,
  eventually,
  everyShardHasOneHolder,
  makeRecordingHolder,
  openCluster,
  owns,
  quick,
  startPair,
} from './ownership-cluster.ts'

let cluster: Cluster

beforeEach(async () => {
  cluster = await openCluster()
})
afterEach(() => cluster.close())

test('a worker that was killed loses its shards', async () => {
  const [first, second] = await startPair(cluster, quick)
  const before = await epochsOf(cluster.db)
  const orphans = [...second.holder.leases.keys()]
  second.link.cut()
  await owns(first, 256)
  const after = await epochsOf(cluster.db)
  for (const shard of orphans) expect(after.get(shard)).toBe((before.get(shard) ?? 0) + 1)
  const leases = [...second.holder.leases.values()]
  await vi.waitFor(() => expect(leases.some((lease) => lease.isValid())).toBe(false), eventually)
})

test('a write that hangs delays the takeover of its shard, by its statement timeout at most, and of no other', async () => {
  const [first, second] = await startPair(cluster, quick)
  const [lease] = second.holder.leases.values()
  if (!lease) throw new Error('holds nothing')
  const stopped = openDatabase(cluster.url, {
    poolSize: 1,
    applicationName: 'second',
    statementTimeoutMs: 2500,
  })
  const sql = stopped.$client
  const write = sql`SELECT pg_sleep(60) FROM (${fenceOf(sql, lease)}) AS fence`
  const refused = expect(write).rejects.toThrow('statement timeout')
  await vi.waitFor(async () => expect(await sleeping()).toBe(1), eventually)

  second.link.cut()
  await owns(first, 255)
  expect(first.holder.leases.has(lease.shard)).toBe(false)
  expect(await sleeping()).toBe(1)
  await refused
  await owns(first, 256)
  await closeDatabase(stopped)
})

test('after an outage longer than the lease everybody renews and nobody reaps the living', async () => {
  const leaseTtlMs = 3000
  const [first, second] = await startPair(cluster, { ...quick, leaseTtlMs })
  const ids = [first.id(), second.id()]
  const held = [...first.holder.leases.values(), ...second.holder.leases.values()]
  for (const worker of [first, second]) worker.link.cut()
  await vi.waitFor(async () => expect(await lapsed()).toBe(2), eventually)
  expect(held.some((lease) => lease.isValid())).toBe(false)

  first.link.heal()
  // The first one looks at the lapsed lease of the second one several times.
  await vi.waitFor(async () => expect(await renewedForMs('first')).toBeGreaterThan(500), eventually)
  second.link.heal()
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
  const [first, zombie] = await startPair(cluster, quick)
  const formerId = zombie.id()
  const leases = [...zombie.holder.leases.values()]
  zombie.link.freeze()
  await owns(first, 256)
  expect(leases.some((lease) => lease.isValid())).toBe(false)

  zombie.link.heal()
  await vi.waitFor(
    () => expect(zombie.holder.dropped.filter(({ why }) => why === 'lost')).toHaveLength(128),
    eventually,
  )
  await owns(zombie, 128)
  await owns(first, 128)
  expect(zombie.id()).not.toBe(formerId)
  await everyShardHasOneHolder(cluster, [first, zombie])
})

test('a shard of which a write found another owner is dropped at once', async () => {
  const [first] = await startPair(cluster, endless)
  const [lease] = first.holder.leases.values()
  if (!lease) throw new Error('holds nothing')
  await cluster.db
    .$client`UPDATE shard_leases SET owner = NULL, epoch = epoch + 1 WHERE shard = ${lease.shard}`
  first.lose(lease)
  expect(lease.isValid()).toBe(false)
  await vi.waitFor(() => expect(first.holder.dropped).toContainEqual({ shard: lease.shard, why: 'lost' }))
  expect(first.state().workerId).toBe(lease.workerId)
})

test('a late write of a former lease does not drop the newer one', async () => {
  const first = await cluster.startWorker('first', endless)
  await owns(first, 256)
  const [former] = first.holder.leases.values()
  if (!former) throw new Error('holds nothing')
  await cluster.db.$client`UPDATE shard_leases SET epoch = epoch + 2 WHERE shard = ${former.shard}`
  const newer = await vi.waitFor(() => {
    const held = first.holder.leases.get(former.shard)
    expect(held?.epoch).toBeGreaterThan(former.epoch)
    return held
  }, eventually)
  first.lose(former)
  expect(newer?.isValid()).toBe(true)
  await everyShardHasOneHolder(cluster, [first])
  expect(first.holder.dropped).toEqual([{ shard: former.shard, why: 'lost' }])
})

test('notices by itself that a shard has another owner', async () => {
  const worker = await cluster.startWorker('first', endless)
  await owns(worker, 256)
  await cluster.db.$client`UPDATE shard_leases SET epoch = epoch + 1 WHERE shard = 5`
  await vi.waitFor(() => expect(worker.holder.dropped).toEqual([{ shard: 5, why: 'lost' }]), eventually)
  await owns(worker, 256)
  expect(worker.holder.leases.get(5)?.epoch).toBe((await epochsOf(cluster.db)).get(5))
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
  const claimedAgain = [...(await epochsOf(cluster.db)).values()].filter((epoch) => epoch > 1)
  expect(claimedAgain).toHaveLength(2 * 32)
})

test('drops all as lost without waiting for a database that does not answer', async () => {
  const worker = await cluster.startWorker('first', endless)
  await owns(worker, 256)
  worker.lookLink.freeze()
  await cluster.db.$client`UPDATE workers SET state = 'dead'`
  await vi.waitFor(() => expect(worker.holder.dropped).toHaveLength(256), { timeout: 2000 })
  expect(new Set(worker.holder.dropped.map(({ why }) => why))).toEqual(new Set(['lost']))
})

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

async function sleeping(): Promise<number> {
  const rows = await cluster.db.$client`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
  return rows.length
}
