import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import {
  addLinkedDevices,
  clusterOf,
  endless,
  epochsOf,
  eventually,
  everyShardHasOneHost,
  makeRecordingHost,
  owns,
  quick,
  statesByName,
} from './ownership-cluster.ts'

// They wait, each for workers on a database of its own, whose leases do not end while others take the processor.
describe.concurrent('workers that share the shards', () => {
  test('shares all shards fairly, and a worker that joins moves only what it must', async (context) => {
    const cluster = await clusterOf(context)
    const first = await cluster.startWorker('first', endless)
    await owns(first, 256)

    const second = await cluster.startWorker('second', endless)
    await owns(first, 128)
    await owns(second, 128)

    const third = await cluster.startWorker('third', endless)
    await owns(first, 86)
    await owns(second, 85)
    await owns(third, 85)

    expect(first.host.started).toHaveLength(256)
    expect(second.host.started).toHaveLength(128)
    expect(third.host.started).toHaveLength(85)
    for (const worker of [first, second, third])
      for (const { why } of worker.host.stopped) expect(why).toBe('released')
    await everyShardHasOneHost(cluster, [first, second, third])
  })

  test('a worker that joins tells the others, which poll less often at rest', async (context) => {
    const cluster = await clusterOf(context)
    await owns(await cluster.startWorker('first', endless), 256)
    expect(cluster.changes()).toBe(1)
  })

  test('ten workers that start at the same time share all shards fairly', async (context) => {
    const cluster = await clusterOf(context)
    const workers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => cluster.startWorker(`worker-${index}`, endless)),
    )
    const counts = () => workers.map(({ host }) => host.leases.size)
    await vi.waitFor(
      () => expect(counts().toSorted()).toEqual([25, 25, 25, 25, 26, 26, 26, 26, 26, 26]),
      eventually,
    )
    await everyShardHasOneHost(cluster, workers)
  })

  test('a worker that joins is given no more linked devices than it can log in at a time', async (context) => {
    const cluster = await clusterOf(context)
    await addLinkedDevices(cluster, 80)
    const first = await cluster.startWorker('first', endless, { host: hostOfLinked(80) })
    await owns(first, 256)
    // Moved devices are offline until their new owner has logged them in.
    await cluster.db.$client`UPDATE devices SET offline_since = now() + interval '1 hour'`
    const second = await cluster.startWorker('second', endless)
    const linkedWith = () => [...second.host.leases.keys()].filter((shard) => shard < 80).length
    await vi.waitFor(() => expect(linkedWith()).toBe(2), eventually)
    await delay(10 * endless.tickMs)
    expect(linkedWith()).toBe(2)
    await cluster.db.$client`UPDATE devices SET offline_since = NULL`
    await vi.waitFor(() => expect(linkedWith()).toBe(40), eventually)
    await owns(second, 128)
  })

  test('a worker that joins gets its share of the linked devices, and otherwise shards without any', async (context) => {
    const cluster = await clusterOf(context)
    await addLinkedDevices(cluster, 10)
    const first = await cluster.startWorker('first', endless, { host: hostOfLinked(10) })
    await owns(first, 256)
    const second = await cluster.startWorker('second', endless)
    await owns(second, 128)
    const linked = Array.from({ length: 10 }, (_, shard) => shard)
    expect(linked.filter((shard) => first.host.leases.has(shard))).toHaveLength(5)
    expect(linked.filter((shard) => second.host.leases.has(shard))).toHaveLength(5)
  })

  test('a shard that shows a QR code does not move', async (context) => {
    const cluster = await clusterOf(context)
    const host = makeRecordingHost({ isPairing: (shard) => shard < 100 })
    const first = await cluster.startWorker('first', endless, { host })
    await owns(first, 256)
    const second = await cluster.startWorker('second', endless)
    await owns(second, 128)
    for (let shard = 0; shard < 100; shard++) expect(host.leases.has(shard)).toBe(true)
  })

  test('the host starts a few shards at a time, those with linked devices first', async (context) => {
    const cluster = await clusterOf(context)
    await addLinkedDevices(cluster, 10)
    const sizes: number[] = []
    const host = makeRecordingHost({
      async start(leases) {
        sizes.push(leases.length)
      },
    })
    const worker = await cluster.startWorker('first', endless, { host })
    await owns(worker, 256)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(32)
    expect(new Set(host.started.slice(0, 10))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
  })

  test('leaves shards unowned that no worker has room for, and reports them, until one has', async (context) => {
    const cluster = await clusterOf(context)
    await addLinkedDevices(cluster, 10)
    const small = await cluster.startWorker('small', endless, { capacity: 4, host: hostOfLinked(10) })
    await vi.waitFor(() => expect(small.state().unplacedShards).toBe(6), eventually)
    await owns(small, 250)
    expect(small.state().linkedDevices).toBe(4)

    const large = await cluster.startWorker('large', endless, { capacity: 100, host: hostOfLinked(10) })
    await vi.waitFor(() => expect(small.state().unplacedShards).toBe(0), eventually)
    await owns(large, 128)
    await owns(small, 128)
  })

  test('a worker with room takes more than its share when the others have none', async (context) => {
    const cluster = await clusterOf(context)
    await addLinkedDevices(cluster, 256)
    const small = await cluster.startWorker('small', endless, { capacity: 20, host: hostOfLinked(256) })
    await owns(small, 20)
    const large = await cluster.startWorker('large', endless, { capacity: 500, host: hostOfLinked(256) })
    await owns(large, 236)
    expect(small.host.stopped).toEqual([])
  })

  test('a shard with more devices than any worker may have gets an owner, and stays with it', async (context) => {
    const cluster = await clusterOf(context)
    await addLinkedDevices(cluster, 7)
    await cluster.db.$client`UPDATE devices SET shard = 3`
    const host = makeRecordingHost()
    host.linked.set(3, 7)
    const first = await cluster.startWorker('first', endless, { capacity: 4, host })
    await owns(first, 256)
    expect(first.state().oversizedShards).toBe(1)

    const second = await cluster.startWorker('second', endless, { capacity: 4 })
    await owns(second, 128)
    await owns(first, 128)
    await delay(20 * endless.tickMs)
    expect(first.host.leases.has(3)).toBe(true)
    expect((await epochsOf(cluster.db)).get(3)).toBe(1)
  })
})

test('two workers of one name come to share the shards instead of replacing each other', async (context) => {
  const cluster = await clusterOf(context)
  const first = await cluster.startWorker('same', quick)
  await owns(first, 256)
  const second = await cluster.startWorker('same', quick)
  await owns(first, 128)
  await owns(second, 128)
  expect(Object.keys(await statesByName(cluster.db))).toHaveLength(2)
})

function hostOfLinked(count: number) {
  const host = makeRecordingHost()
  for (let shard = 0; shard < count; shard++) host.linked.set(shard, 1)
  return host
}
