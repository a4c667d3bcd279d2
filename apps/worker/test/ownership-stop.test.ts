import { setTimeout as delay } from 'node:timers/promises'
import { timeAwake } from '@wagate/test-kit/awake-time'
import { describe, expect, test, vi } from 'vitest'
import {
  addLinkedDevices,
  type Cluster,
  clusterOf,
  endless,
  eventually,
  makeRecordingHost,
  owns,
  quick,
  type RecordingHost,
  startPair,
  statesByName,
} from './ownership-cluster.ts'

// They wait, each for workers on a database of its own.
describe.concurrent('a worker that stops', () => {
  test('hands senders over in small waves, and all together when no other worker is left', async (context) => {
    const cluster = await clusterOf(context)
    const [first, second] = await startPair(cluster, endless)
    for (const { host } of [first, second])
      for (const shard of host.leases.keys()) if (host.linked.size < 10) host.linked.set(shard, 1)
    const linkedShards = [...first.host.linked.keys()]
    const wavesOf = watchStops(first.host)
    await Promise.all([first.close(), owns(second, 256)])
    const waves = wavesOf()
    expect(waves.map((wave) => wave.filter((shard) => linkedShards.includes(shard)).length)).toEqual(
      Array(5).fill(2),
    )
    expect(waves.map((wave) => wave.length)).toEqual([2, 2, 2, 2, 120])

    const lastWavesOf = watchStops(second.host)
    await second.close()
    expect(lastWavesOf().map((wave) => wave.length)).toEqual([256])
  })

  test('the next wave waits until the senders of the last one are online again', async (context) => {
    const cluster = await clusterOf(context)
    const { first, waves, setConnected } = await startPairWithSenders(cluster, 4)
    const stopped = first.close()
    await vi.waitFor(() => expect(waves()).toHaveLength(1), eventually)
    await delay(1000)
    expect(waves()).toHaveLength(1)
    await setConnected(waves()[0] ?? [])
    await stopped
    expect(waves().map((wave) => wave.length)).toEqual([2, 126])
  })

  test('senders that do not come online again delay the next wave only for their part of the time', async (context) => {
    const cluster = await clusterOf(context)
    const { first, waves } = await startPairWithSenders(cluster, 4)
    const { awakeMs } = await timeAwake(() => first.close())
    expect(waves().map((wave) => wave.length)).toEqual([2, 126])
    expect(awakeMs).toBeLessThan(6000)
  })

  test('leases stay valid while a stopping worker finishes messages in flight', async (context) => {
    const cluster = await clusterOf(context)
    let finish = () => {}
    const wire = new Promise<void>((resolve) => {
      finish = resolve
    })
    const host = makeRecordingHost({ stop: () => wire })
    const worker = await cluster.startWorker('first', quick, { host })
    await owns(worker, 256)
    const [lease] = host.leases.values()
    const stopped = worker.close()
    await vi.waitFor(
      async () => expect(await statesByName(cluster.db)).toEqual({ first: 'draining' }),
      eventually,
    )
    expect(lease?.isValid()).toBe(true)
    finish()
    await stopped
    expect(lease?.isValid()).toBe(false)
  })

  test('continues to claim while the host starts shards slowly', async (context) => {
    const cluster = await clusterOf(context)
    const first = await cluster.startWorker('first', endless)
    await owns(first, 256)
    let finish = () => {}
    const reading = new Promise<void>((resolve) => {
      finish = resolve
    })
    const second = await cluster.startWorker('second', endless, {
      host: makeRecordingHost({ start: () => reading }),
    })
    await vi.waitFor(() => expect(second.state().ownedShards).toBe(128), eventually)
    await first.close()
    await vi.waitFor(() => expect(second.state().ownedShards).toBe(256), eventually)
    expect(second.host.leases.size).toBe(0)
    finish()
    await owns(second, 256)
  })

  test.for(['cut', 'freeze'] as const)('stops when Postgres is unavailable: %s', async (fault, context) => {
    const cluster = await clusterOf(context)
    const worker = await cluster.startWorker('first', quick)
    await owns(worker, 256)
    worker.link[fault]()
    const startedMs = performance.now()
    await worker.close()
    expect(performance.now() - startedMs).toBeLessThan(12_000)
    expect(worker.host.stopped).toHaveLength(256)
  })
})

test('a worker that stops hands its shards over within a second', async (context) => {
  const cluster = await clusterOf(context)
  const [first, second] = await startPair(cluster, endless)
  const leases = [...first.host.leases.values()]
  const { awakeMs } = await timeAwake(() => Promise.all([first.close(), owns(second, 256)]))
  expect(awakeMs).toBeLessThan(1000)
  expect(first.host.stopped.filter(({ why }) => why === 'released')).toHaveLength(256)
  expect(leases.some((lease) => lease.isValid())).toBe(false)
  expect(await statesByName(cluster.db)).toEqual({ first: 'dead', second: 'live' })
})

test('a restart under the same name takes the shards back without waiting for the lease', async (context) => {
  const cluster = await clusterOf(context)
  const [killed, other] = await startPair(cluster, endless)
  killed.link.cut()
  const restarted = await cluster.startWorker('first', endless)
  await owns(restarted, 128)
  expect(restarted.host.started).toHaveLength(128)
  expect(other.host.leases.size).toBe(128)
})

/** The first one owns `count` linked senders, which go offline with their shards. */

async function startPairWithSenders(cluster: Cluster, count: number) {
  const sql = cluster.db.$client
  const [first] = await startPair(cluster, endless)
  await addLinkedDevices(cluster, 256)
  const linked = [...first.host.leases.keys()].slice(0, count)
  for (const shard of linked) first.host.linked.set(shard, 1)
  await sql`UPDATE devices SET has_credentials = shard = ANY(${linked})`
  const waves = watchStops(first.host, async (shards) => {
    await sql`UPDATE devices SET offline_since = now() WHERE shard = ANY(${shards})`
  })
  const setConnected = (shards: number[]) =>
    sql`UPDATE devices SET offline_since = NULL WHERE shard = ANY(${shards})`
  return { first, waves, setConnected }
}

/** The shards of each call of `stop` from now on. */

function watchStops(
  host: RecordingHost,
  afterwards: (shards: number[]) => Promise<void> = async () => undefined,
): () => number[][] {
  const { stop } = host
  const stops: number[][] = []
  host.stop = async (shards, why) => {
    stops.push(shards)
    await stop(shards, why)
    await afterwards(shards)
  }
  return () => stops
}
