import type { Command } from '@wagate/shared/commands'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
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
  await vi.waitFor(() => expect(seen).toEqual([{ kind: 'send', deviceId: 7 }]))
})

test('adds commands of many shards over one connection', async () => {
  const seen = new Set<number>()
  const connection = queues.connect()
  for (let shard = 100; shard < 150; shard++) {
    await queues.consume(shard, { send: async ({ deviceId }) => void seen.add(deviceId) }, { connection })
  }
  const producer = queues.produce()
  const deviceIds = Array.from({ length: 50 }, (_, index) => 100 + index)
  await producer.add(deviceIds.map((deviceId) => ({ kind: 'send', deviceId })))
  await vi.waitFor(() => expect([...seen].sort()).toEqual(deviceIds.map(Number).sort()))
})

test('runs exactly once more for commands that came while one was being handled', async () => {
  const shard = 8
  let runs = 0
  let finish: () => void = ignore
  const first = new Promise<void>((resolve) => {
    finish = resolve
  })
  await queues.consume(shard, {
    send: async () => {
      runs++
      if (runs === 1) await first
    },
  })
  const producer = queues.produce()
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(1))
  for (let n = 0; n < 20; n++) await producer.add([{ kind: 'send', deviceId: shard }])
  finish()
  await vi.waitFor(() => expect(runs).toBe(2))
  await vi.waitFor(async () => expect(await queues.countJobs(shard)).toBe(0))
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
  await vi.waitFor(() => expect(seen.sort()).toEqual(['end-session 265', 'start-session 9']))
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
  await vi.waitFor(() => expect(errors.map(({ message }) => message)).toEqual(['planted']))
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(2))
})

test('a closed consumer leaves no listeners on the shared connection', async () => {
  const { redis } = queues.connect()
  const countListeners = () =>
    redis.eventNames().reduce((total, name) => total + redis.listenerCount(name), 0)
  const before = countListeners()
  for (let n = 0; n < 5; n++) {
    const consumer = await queues.consume(
      25,
      { send: async () => undefined },
      { connection: { redis, close: async () => undefined } },
    )
    await consumer.close()
  }
  expect(countListeners()).toBe(before)
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
