import { randomUUID } from 'node:crypto'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { fenceOf } from '@wagate/db/queries/statements/fence'
import { markWorkerDraining, registerWorker } from '@wagate/db/queries/workers/workers'
import { describe, expect, test, vi } from 'vitest'
import {
  type Cluster,
  clusterOf,
  endless,
  epochsOf,
  eventually,
  everyShardHasOneHost,
  makeRecordingHost,
  owns,
  quick,
  startPair,
  statesByName,
} from './ownership-cluster.ts'

// They wait, each for workers on a database of its own, whose leases are too long to end while others take the processor.
describe.concurrent('a worker that loses shards', () => {
  test('after an outage longer than the lease all workers renew theirs and no live worker is marked dead', async (context) => {
    const cluster = await clusterOf(context)
    const leaseTtlMs = 3000
    const [first, second] = await startPair(cluster, { ...quick, leaseTtlMs })
    const ids = [first.id(), second.id()]
    const held = [...first.host.leases.values(), ...second.host.leases.values()]
    for (const worker of [first, second]) worker.link.cut()
    await vi.waitFor(async () => expect(await lapsed(cluster)).toBe(2), eventually)
    expect(held.some((lease) => lease.isValid())).toBe(false)

    first.link.heal()
    // The first worker sees the expired lease of the second several times.
    await vi.waitFor(
      async () => expect(await renewedForMs(cluster, 'first')).toBeGreaterThan(500),
      eventually,
    )
    second.link.heal()
    await vi.waitFor(() => expect(held.every((lease) => lease.isValid())).toBe(true), eventually)

    // From now on the first worker may mark others dead again.
    await vi.waitFor(
      async () => expect(await renewedForMs(cluster, 'first')).toBeGreaterThan(leaseTtlMs + 300),
      eventually,
    )
    expect([first.id(), second.id()]).toEqual(ids)
    expect([...first.host.leases.values(), ...second.host.leases.values()]).toEqual(held)
  })

  test('a shard is stopped at once when a fenced write is refused', async (context) => {
    const cluster = await clusterOf(context)
    const [first] = await startPair(cluster, endless)
    const [lease] = first.host.leases.values()
    if (!lease) throw new Error('owns nothing')
    await cluster.db
      .$client`UPDATE shard_leases SET owner = NULL, epoch = epoch + 1 WHERE shard = ${lease.shard}`
    first.lose(lease)
    expect(lease.isValid()).toBe(false)
    await vi.waitFor(
      () => expect(first.host.stopped).toContainEqual({ shard: lease.shard, why: 'lost' }),
      eventually,
    )
    expect(first.state().workerId).toBe(lease.workerId)
  })

  test('a late write with a former lease does not end the newer one', async (context) => {
    const cluster = await clusterOf(context)
    const first = await cluster.startWorker('first', endless)
    await owns(first, 256)
    const [former] = first.host.leases.values()
    if (!former) throw new Error('owns nothing')
    await cluster.db.$client`UPDATE shard_leases SET epoch = epoch + 2 WHERE shard = ${former.shard}`
    const newer = await vi.waitFor(() => {
      const held = first.host.leases.get(former.shard)
      expect(held?.epoch).toBeGreaterThan(former.epoch)
      return held
    }, eventually)
    first.lose(former)
    expect(newer?.isValid()).toBe(true)
    await everyShardHasOneHost(cluster, [first])
    expect(first.host.stopped).toEqual([{ shard: former.shard, why: 'lost' }])
  })

  test('notices that a shard has another owner', async (context) => {
    const cluster = await clusterOf(context)
    const worker = await cluster.startWorker('first', endless)
    await owns(worker, 256)
    await cluster.db.$client`UPDATE shard_leases SET epoch = epoch + 1 WHERE shard = 5`
    await vi.waitFor(() => expect(worker.host.stopped).toEqual([{ shard: 5, why: 'lost' }]), eventually)
    await owns(worker, 256)
    expect(worker.host.leases.get(5)?.epoch).toBe((await epochsOf(cluster.db)).get(5))
  })

  test('claims shards again that could not be started', async (context) => {
    const cluster = await clusterOf(context)
    let failures = 0
    const host = makeRecordingHost({
      async start() {
        failures += 1
        if (failures <= 2) throw new Error('The devices cannot be read')
      },
    })
    const worker = await cluster.startWorker('first', endless, { host })
    await owns(worker, 256)
    const claimedAgain = [...(await epochsOf(cluster.db)).values()].filter((epoch) => epoch > 1)
    expect(claimedAgain).toHaveLength(2 * 32)
  })
})

test('a worker that was killed loses its shards', async (context) => {
  const cluster = await clusterOf(context)
  const [first, second] = await startPair(cluster, quick)
  const before = await epochsOf(cluster.db)
  const orphans = [...second.host.leases.keys()]
  second.link.cut()
  await owns(first, 256)
  const after = await epochsOf(cluster.db)
  for (const shard of orphans) expect(after.get(shard)).toBe((before.get(shard) ?? 0) + 1)
  const leases = [...second.host.leases.values()]
  await vi.waitFor(() => expect(leases.some((lease) => lease.isValid())).toBe(false), eventually)
})

test('a draining worker without shards that was killed is marked dead while all else is at rest', async (context) => {
  const cluster = await clusterOf(context)
  const first = await cluster.startWorker('first', quick)
  await owns(first, 256)
  const drained = { id: randomUUID(), name: 'drained', capacity: 500, leaseTtlMs: 500 }
  await registerWorker(cluster.db, drained)
  await markWorkerDraining(cluster.db, drained.id)
  await vi.waitFor(
    async () => expect(await statesByName(cluster.db)).toEqual({ first: 'live', drained: 'dead' }),
    eventually,
  )
})

test('a write that hangs delays the takeover of its shard until it ends, and of no other', async (context) => {
  const cluster = await clusterOf(context)
  const [first, second] = await startPair(cluster, quick)
  const [lease] = second.host.leases.values()
  if (!lease) throw new Error('owns nothing')
  const stopped = openDatabase(cluster.url, {
    poolSize: 1,
    applicationName: 'second',
    statementTimeoutMs: 60_000,
  })
  const sql = stopped.$client
  const write = sql`SELECT pg_sleep(60) FROM (${fenceOf(sql, lease)}) AS fence`
  const refused = expect(write).rejects.toThrow('canceling statement')
  await vi.waitFor(async () => expect(await sleeping(cluster)).toBe(1), eventually)

  second.link.cut()
  await owns(first, 255)
  expect(first.host.leases.has(lease.shard)).toBe(false)
  expect(await sleeping(cluster)).toBe(1)
  await cluster.db.$client`
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event = 'PgSleep'`
  await refused
  await owns(first, 256)
  await closeDatabase(stopped)
})

test('a worker that wakes up after its lease stops all shards as lost and continues under a new id', async (context) => {
  const cluster = await clusterOf(context)
  const [first, zombie] = await startPair(cluster, quick)
  const formerId = zombie.id()
  const leases = [...zombie.host.leases.values()]
  zombie.link.freeze()
  await owns(first, 256)
  expect(leases.some((lease) => lease.isValid())).toBe(false)

  zombie.link.heal()
  await vi.waitFor(
    () => expect(zombie.host.stopped.filter(({ why }) => why === 'lost')).toHaveLength(128),
    eventually,
  )
  await owns(zombie, 128)
  await owns(first, 128)
  expect(zombie.id()).not.toBe(formerId)
  await everyShardHasOneHost(cluster, [first, zombie])
})

test('stops all shards as lost without waiting for a database that does not answer', async (context) => {
  const cluster = await clusterOf(context)
  const worker = await cluster.startWorker('first', endless)
  await owns(worker, 256)
  worker.queryLink.freeze()
  await cluster.db.$client`UPDATE workers SET state = 'dead'`
  await vi.waitFor(() => expect(worker.host.stopped).toHaveLength(256), { timeout: 2000 })
  expect(new Set(worker.host.stopped.map(({ why }) => why))).toEqual(new Set(['lost']))
})

async function lapsed(cluster: Cluster): Promise<number> {
  const rows = await cluster.db.$client`SELECT FROM workers WHERE state = 'live' AND lease_until < now()`
  return rows.length
}

async function renewedForMs(cluster: Cluster, name: string): Promise<number> {
  const [row] = await cluster.db.$client<{ ms: number }[]>`
    SELECT (extract(epoch FROM now() - renewed_since) * 1000)::int AS ms
    FROM workers WHERE name = ${name} AND lease_until >= now()`
  return row?.ms ?? 0
}

async function sleeping(cluster: Cluster): Promise<number> {
  const rows = await cluster.db.$client`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
  return rows.length
}
