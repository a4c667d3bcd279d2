import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  addLinkedDevices,
  type Cluster,
  endless,
  eventually,
  makeRecordingHolder,
  openCluster,
  owns,
  quick,
  type RecordingHolder,
  startPair,
  statesByName,
} from './ownership-cluster.ts'

let cluster: Cluster

beforeEach(async () => {
  cluster = await openCluster()
})
afterEach(() => cluster.close())

test('a worker that stops hands its shards over within a second', async () => {
  const [first, second] = await startPair(cluster, endless)
  const leases = [...first.holder.leases.values()]
  const startedMs = performance.now()
  await Promise.all([first.close(), owns(second, 256)])
  expect(performance.now() - startedMs).toBeLessThan(1000)
  expect(first.holder.dropped.filter(({ why }) => why === 'released')).toHaveLength(256)
  expect(leases.some((lease) => lease.isValid())).toBe(false)
  expect(await statesByName(cluster.db)).toEqual({ first: 'dead', second: 'live' })
})

test('hands senders over a few at a time, and all at once when nobody is left to take them', async () => {
  const [first, second] = await startPair(cluster, endless)
  for (const { holder } of [first, second])
    for (const shard of holder.leases.keys()) if (holder.linked.size < 10) holder.linked.set(shard, 1)
  const linkedShards = [...first.holder.linked.keys()]
  const wavesOf = watchDrops(first.holder)
  await Promise.all([first.close(), owns(second, 256)])
  const waves = wavesOf()
  expect(waves.map((wave) => wave.filter((shard) => linkedShards.includes(shard)).length)).toEqual(
    Array(5).fill(2),
  )
  expect(waves.map((wave) => wave.length)).toEqual([2, 2, 2, 2, 120])

  const lastWavesOf = watchDrops(second.holder)
  await second.close()
  expect(lastWavesOf().map((wave) => wave.length)).toEqual([256])
})

test('the next senders stay until the last ones are online again', async () => {
  const { first, waves, setConnected } = await startPairWithSenders(4)
  const stopped = first.close()
  await vi.waitFor(() => expect(waves()).toHaveLength(1), eventually)
  await delay(1000)
  expect(waves()).toHaveLength(1)
  await setConnected(waves()[0] ?? [])
  await stopped
  expect(waves().map((wave) => wave.length)).toEqual([2, 126])
})

test('senders that do not come online again hold the others up for their part of the time', async () => {
  const { first, waves } = await startPairWithSenders(4)
  const startedMs = performance.now()
  await first.close()
  expect(waves().map((wave) => wave.length)).toEqual([2, 126])
  expect(performance.now() - startedMs).toBeLessThan(6000)
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
  await vi.waitFor(async () => expect(await statesByName(cluster.db)).toEqual({ first: 'draining' }))
  expect(lease?.isValid()).toBe(true)
  finish()
  await stopped
  expect(lease?.isValid()).toBe(false)
})

test('a restart under the same name takes the shards back without waiting for the lease', async () => {
  const [killed, other] = await startPair(cluster, endless)
  killed.link.cut()
  const restarted = await cluster.startWorker('first', endless)
  await owns(restarted, 128)
  expect(restarted.holder.taken).toHaveLength(128)
  expect(other.holder.leases.size).toBe(128)
})

test('goes on claiming while the holder takes its time', async () => {
  const first = await cluster.startWorker('first', endless)
  await owns(first, 256)
  let finish = () => {}
  const reading = new Promise<void>((resolve) => {
    finish = resolve
  })
  const second = await cluster.startWorker('second', endless, {
    holder: makeRecordingHolder({ take: () => reading }),
  })
  await vi.waitFor(() => expect(second.state().ownedShards).toBe(128), eventually)
  await first.close()
  await vi.waitFor(() => expect(second.state().ownedShards).toBe(256), eventually)
  expect(second.holder.leases.size).toBe(0)
  finish()
  await owns(second, 256)
})

test.each(['cut', 'freeze'] as const)('stops although Postgres is away: %s', async (fault) => {
  const worker = await cluster.startWorker('first', quick)
  await owns(worker, 256)
  worker.link[fault]()
  const startedMs = performance.now()
  await worker.close()
  expect(performance.now() - startedMs).toBeLessThan(12_000)
  expect(worker.holder.dropped).toHaveLength(256)
})

/** The first of them holds so many linked senders, which go offline with their shards. */
async function startPairWithSenders(count: number) {
  const sql = cluster.db.$client
  const [first] = await startPair(cluster, endless)
  await addLinkedDevices(cluster, 256)
  const linked = [...first.holder.leases.keys()].slice(0, count)
  for (const shard of linked) first.holder.linked.set(shard, 1)
  await sql`UPDATE devices SET has_credentials = shard = ANY(${linked})`
  const waves = watchDrops(first.holder, async (shards) => {
    await sql`UPDATE devices SET offline_since = now() WHERE shard = ANY(${shards})`
  })
  const setConnected = (shards: number[]) =>
    sql`UPDATE devices SET offline_since = NULL WHERE shard = ANY(${shards})`
  return { first, waves, setConnected }
}

/** The shards of each call of `drop` from now on. */
function watchDrops(
  holder: RecordingHolder,
  afterwards: (shards: number[]) => Promise<void> = async () => undefined,
): () => number[][] {
  const { drop } = holder
  const drops: number[][] = []
  holder.drop = async (shards, why) => {
    drops.push(shards)
    await drop(shards, why)
    await afterwards(shards)
  }
  return () => drops
}
