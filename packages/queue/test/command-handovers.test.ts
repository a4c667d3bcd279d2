import type { Command } from '@wagate/shared/commands'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { startTcpProxy } from '@wagate/test-kit/tcp-proxy'
import { eventually } from '@wagate/test-kit/until'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { commandQueue } from '../src/command-queue.ts'
import { openTestQueues, type TestQueues } from './test-queues.ts'

let queues: TestQueues
beforeAll(async () => {
  queues = await openTestQueues()
})
afterAll(() => queues.close())

test('later commands are not lost after an owner was killed', async () => {
  const shard = 11
  const producer = queues.produce()
  let isStarted = false
  const former = await queues.consume(shard, {
    send: () => {
      isStarted = true
      return new Promise(() => undefined)
    },
  })
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(isStarted).toBe(true), eventually)
  await producer.add([{ kind: 'send', deviceId: shard }])
  await former.close()

  let runs = 0
  await queues.consume(shard, { send: async () => void runs++ })
  expect(await queues.countJobs(shard)).toBe(0)
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(1), eventually)
})

test('later commands are not lost after one was delivered over a lost connection', async () => {
  const shard = 23
  const proxy = await queues.startProxy()
  let runs = 0
  let drops = 0
  const consumers = queues.consumers(proxy.url)
  const handlers = { 'start-session': async () => void runs++ }
  await queues.consume(shard, handlers, { consumers, onDropped: () => drops++ })
  proxy.cut()
  const producer = queues.produce()
  await producer.add([{ kind: 'start-session', deviceId: shard }])
  await queues.loseCommand(shard)
  proxy.heal()
  await vi.waitFor(() => expect(drops).toBe(1), { timeout: 5000 })
  await producer.add([{ kind: 'start-session', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(1), { timeout: 10_000 })
})

test('while Redis refuses writes, sends wake their device, and other commands wait', async () => {
  const shard = 25
  const redis = await startOwnRedis()
  queues.onClose(redis.close)
  const proxy = await startTcpProxy(redis.url)
  queues.onClose(proxy.close)
  const errors: Error[] = []
  const seen: string[] = []
  let drops = 0
  const note = async ({ kind }: Command) => void seen.push(kind)
  await queues.consume(
    shard,
    { send: note, 'start-session': note },
    {
      consumers: queues.consumers(proxy.url),
      onError: (error) => errors.push(error),
      onDropped: () => drops++,
    },
  )
  const producer = queues.produce(redis.url)
  proxy.freeze()
  await producer.add([{ kind: 'start-session', deviceId: shard }])
  // Refuses every write, as with a full disk.
  await redis.set('min-replicas-to-write', '1')
  proxy.heal()
  await vi.waitFor(() => expect(errors.join()).toContain('NOREPLICAS'), { timeout: 5000 })
  expect(drops).toBeGreaterThan(0)
  await expect(producer.add([{ kind: 'send', deviceId: shard }])).rejects.toThrow('NOREPLICAS')
  await vi.waitFor(() => expect(seen).toEqual(['send']), eventually)
  await redis.set('min-replicas-to-write', '0')
  await vi.waitFor(() => expect(seen).toEqual(['send', 'start-session']), { timeout: 5000 })
})

test('the next owner resumes a queue that a killed owner left paused', async () => {
  const shard = 26
  let runs = 0
  await queues.consume(shard, { send: async () => void runs++ })
  const { name, prefix } = commandQueue(shard)
  const former = new Queue(name, { connection: { url: queues.redisUrl }, prefix })
  // The first step of dropping waiting commands.
  await former.pause()
  await former.close()
  const producer = queues.produce()
  const addUntilSeen = async () => {
    await producer.add([{ kind: 'send', deviceId: shard }])
    expect(runs).toBeGreaterThan(0)
  }
  await vi.waitFor(addUntilSeen, { timeout: 10_000, interval: 100 })
})

test('when several consumers of a shard start at the same time, any one that remains gets commands', async () => {
  for (const [kept, shard] of [30, 31, 32, 33, 34, 35].entries()) {
    const seen = new Set<number>()
    const owners = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        queues.consume(shard, { send: async () => void seen.add(index) }),
      ),
    )
    for (const [index, owner] of owners.entries()) if (index !== kept) await owner.close()
    const producer = queues.produce()
    // A consumer that starts late drops commands from before its start.
    const addUntilSeen = async () => {
      await producer.add([{ kind: 'send', deviceId: shard }])
      expect([...seen]).toContain(kept)
    }
    await vi.waitFor(addUntilSeen, { timeout: 5000 })
  }
})
