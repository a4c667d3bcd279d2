import type { Command } from '@wagate/shared/commands'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { eventually } from '@wagate/test-kit/until'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeCommandConsumers } from '../src/command-consumers.ts'
import { commandQueue } from '../src/command-queue.ts'
import { connectForConsumers } from '../src/redis.ts'
import { openTestQueues, type TestQueues } from './test-queues.ts'

const ignore = () => undefined

const shards = 256

let queues: TestQueues
beforeAll(async () => {
  queues = await openTestQueues()
})
afterAll(() => queues.close())

test('passes a command to its handler, with ids only', async () => {
  const seen: Command[] = []
  await queues.consume(7, { send: async (command) => void seen.push(command) })
  await queues.produce().add([{ kind: 'send', deviceId: 7 }])
  await vi.waitFor(() => expect(seen).toEqual([{ kind: 'send', deviceId: 7 }]), eventually)
})

test('adds commands of many shards over one connection', async () => {
  const seen = new Set<number>()
  const consumers = queues.consumers()
  for (let shard = 100; shard < 150; shard++) {
    await queues.consume(shard, { send: async ({ deviceId }) => void seen.add(deviceId) }, { consumers })
  }
  const producer = queues.produce()
  const deviceIds = Array.from({ length: 50 }, (_, index) => 100 + index)
  await producer.add(deviceIds.map((deviceId) => ({ kind: 'send', deviceId })))
  await vi.waitFor(() => expect([...seen].sort()).toEqual(deviceIds.map(Number).sort()), eventually)
})

test('runs exactly once more for commands that came while one was being handled', async () => {
  const shard = 8
  let runs = 0
  let finish: () => void = ignore
  const first = new Promise<void>((resolve) => {
    finish = resolve
  })
  let haveArrived = false
  await queues.consume(shard, {
    send: async () => {
      runs++
      if (runs === 1) await first
    },
    'start-session': async () => {
      haveArrived = true
    },
  })
  const producer = queues.produce()
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(1), eventually)
  for (let n = 0; n < 20; n++) await producer.add([{ kind: 'send', deviceId: shard }])
  // Announcements arrive in their order, but not before `add` has resolved.
  await producer.add([{ kind: 'start-session', deviceId: shard }])
  await vi.waitFor(() => expect(haveArrived).toBe(true), eventually)
  finish()
  await vi.waitFor(() => expect(runs).toBe(2), eventually)
  await vi.waitFor(async () => expect(await queues.countJobs(shard)).toBe(0), { timeout: 5000 })
  expect(runs).toBe(2)
})

test('a slow command does not delay one of another kind or device', async () => {
  const shard = 9
  const seen: string[] = []
  const never = new Promise<void>(() => undefined)
  await queues.consume(shard, {
    send: () => never,
    'start-session': async ({ deviceId }) => void seen.push(`start-session ${deviceId}`),
    'end-session': async ({ deviceId }) => void seen.push(`end-session ${deviceId}`),
  })
  await queues.produce().add([
    { kind: 'send', deviceId: shard },
    { kind: 'start-session', deviceId: shard },
    { kind: 'end-session', deviceId: shard + shards },
  ])
  await vi.waitFor(() => expect(seen.sort()).toEqual(['end-session 265', 'start-session 9']), eventually)
})

test('a thousand equal commands wait as one', async () => {
  const producer = queues.produce()
  for (let n = 0; n < 10; n++) {
    await Promise.all(Array.from({ length: 100 }, () => producer.add([{ kind: 'send', deviceId: 10 }])))
  }
  expect(await queues.countJobs(10)).toBe(1)
})

test('a failing handler is reported and does not stop the next command', async () => {
  const shard = 12
  const errors: Error[] = []
  let runs = 0
  await queues.consume(
    shard,
    {
      send: async () => {
        runs++
        if (runs === 1) throw new Error('planted')
      },
    },
    { onError: (error) => errors.push(error) },
  )
  const producer = queues.produce()
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(errors.map(({ message }) => message)).toEqual(['planted']), eventually)
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(2), eventually)
})

test('a closed consumer leaves no listeners on the shared connection', async () => {
  const links = queues.open()
  await links.connected
  const consumers = makeCommandConsumers(links)
  queues.onClose(consumers.close)
  const { requests } = links
  const countListeners = () =>
    requests.eventNames().reduce((total, name) => total + requests.listenerCount(name), 0)
  const before = countListeners()
  const producer = queues.produce()
  for (let n = 0; n < 5; n++) {
    // Something to drop.
    await producer.add([{ kind: 'send', deviceId: 25 }])
    const consumer = await queues.consume(25, { send: async () => undefined }, { consumers })
    await consumer.close()
  }
  expect(countListeners()).toBe(before)
})

test('commands that were not announced are found, and not taken for announced ones', async () => {
  const [announced, other] = [28, 29]
  const seen: string[] = []
  const note = async ({ kind, deviceId }: Command) => void seen.push(`${kind} ${deviceId}`)
  const consumers = queues.consumers()
  for (const shard of [announced, other])
    await queues.consume(shard, { send: note, 'start-session': note }, { consumers })
  /** As an API process of an earlier version does. */
  async function add(kind: Command['kind'], shard: number): Promise<void> {
    const { name, prefix } = commandQueue(shard)
    const queue = new Queue(name, { connection: { url: queues.redisUrl }, prefix })
    await queue.add(kind, { kind, deviceId: shard }, { deduplication: { id: `${shard}-${kind}` } })
    await queue.close()
  }
  await queues.produce().add([{ kind: 'send', deviceId: announced }])
  await vi.waitFor(() => expect(seen).toEqual(['send 28']), eventually)
  await add('send', announced)
  await add('start-session', other)
  for (const shard of [announced, other])
    await vi.waitFor(async () => expect(await queues.countJobs(shard)).toBe(0), { timeout: 5000 })
  await vi.waitFor(
    () => expect(seen.toSorted()).toEqual(['send 28', 'send 28', 'start-session 29']),
    eventually,
  )
})

test('hundreds of idle shards start, stay and end with a handful of commands of Redis', async () => {
  const redis = await startOwnRedis()
  queues.onClose(redis.close)
  const links = queues.open(redis.url)
  await links.connected
  const consumers = makeCommandConsumers(links)
  queues.onClose(consumers.close)
  const countCommands = async () =>
    Number(/total_commands_processed:(\d+)/.exec(await links.requests.info('stats'))?.[1])
  const before = await countCommands()
  const started = await Promise.all(
    Array.from({ length: 600 }, (_, shard) => queues.consume(shard, {}, { consumers })),
  )
  await Promise.all(started.map((consumer) => consumer.close()))
  await vi.waitFor(async () => expect(await links.requests.pubsub('CHANNELS')).toEqual([]), eventually)
  expect((await countCommands()) - before).toBeLessThan(30)
})

test('the event stream stays empty after all keys were deleted', async () => {
  const shard = 27
  await queues.consume(shard, { send: async () => undefined })
  const { name, prefix } = commandQueue(shard)
  const redis = connectForConsumers(queues.redisUrl, ignore)
  queues.onClose(async () => redis.disconnect())
  const key = (part: string) => `${prefix}:${name}:${part}`
  // As FLUSHALL does, but only for this shard.
  await redis.del(key('meta'))
  const producer = queues.produce()
  const addUntilEmpty = async () => {
    await producer.add([{ kind: 'send', deviceId: shard }])
    expect(await redis.hget(key('meta'), 'opts.maxLenEvents')).toBe('0')
    expect(await redis.xlen(key('events'))).toBeLessThanOrEqual(1)
  }
  await vi.waitFor(addUntilEmpty, { timeout: 10_000, interval: 100 })
})
