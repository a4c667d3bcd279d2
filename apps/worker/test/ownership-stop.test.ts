import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
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
  expect(waves.map((wave) => wave.filter((shard) => linkedShards.includes(shard)).length)).toEqual([4, 4, 2])
  expect(waves.map((wave) => wave.length)).toEqual([4, 4, 120])

  const lastWavesOf = watchDrops(second.holder)
  await second.close()
  expect(lastWavesOf().map((wave) => wave.length)).toEqual([256])
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

/** The shards of each call of `drop` from now on. */
function watchDrops(holder: RecordingHolder): () => number[][] {
  const drop = vi.spyOn(holder, 'drop')
  return () => drop.mock.calls.map(([shards]) => shards)
}
