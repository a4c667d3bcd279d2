import type { Command, CommandHandlers } from '@wagate/shared/commands'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { Queue, Worker } from 'bullmq'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openConsumerConnection, startCommandConsumer } from '../src/command-consumer.ts'
import { openCommandProducer } from '../src/command-producer.ts'
import { commandQueue } from '../src/command-queue.ts'
import { connectForConsumers } from '../src/redis.ts'

const shards = 256
const ignoreErrors = () => undefined
const closers: (() => Promise<unknown>)[] = []
let redisUrl: string

beforeAll(async () => {
  redisUrl = await testRedisUrl()
})
afterAll(() => Promise.all(closers.map((close) => close())))

test('passes a command to its handler, with ids only', async () => {
  const seen: Command[] = []
  await consume(7, { send: async (command) => void seen.push(command) })
  await produce().add([{ kind: 'send', deviceId: 7 }])
  await vi.waitFor(() => expect(seen).toEqual([{ kind: 'send', deviceId: 7 }]))
})

test('adds commands of many shards over one connection', async () => {
  const seen = new Set<number>()
  const connection = open()
  for (let shard = 100; shard < 150; shard++) {
    await consume(shard, { send: async ({ deviceId }) => void seen.add(deviceId) }, connection)
  }
  const producer = produce()
  const deviceIds = Array.from({ length: 50 }, (_, index) => 100 + index)
  await producer.add(deviceIds.map((deviceId) => ({ kind: 'send', deviceId })))
  await vi.waitFor(() => expect([...seen].sort()).toEqual(deviceIds.map(Number).sort()))
})

test('runs exactly once more for commands that came while one was being handled', async () => {
  const shard = 8
  let runs = 0
  let finish: () => void = ignoreErrors
  const first = new Promise<void>((resolve) => {
    finish = resolve
  })
  await consume(shard, {
    send: async () => {
      runs++
      if (runs === 1) await first
    },
  })
  const producer = produce()
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(1))
  for (let n = 0; n < 20; n++) await producer.add([{ kind: 'send', deviceId: shard }])
  finish()
  await vi.waitFor(() => expect(runs).toBe(2))
  await vi.waitFor(async () => expect(await countJobs(shard)).toBe(0))
  expect(runs).toBe(2)
})

test('a slow command does not delay one of another kind or device', async () => {
  const shard = 9
  const seen: string[] = []
  const never = new Promise<void>(() => undefined)
  await consume(shard, {
    send: () => never,
    'start-session': async ({ deviceId }) => void seen.push(`start-session ${deviceId}`),
    'end-session': async ({ deviceId }) => void seen.push(`end-session ${deviceId}`),
  })
  await produce().add([
    { kind: 'send', deviceId: shard },
    { kind: 'start-session', deviceId: shard },
    { kind: 'end-session', deviceId: shard + shards },
  ])
  await vi.waitFor(() => expect(seen.sort()).toEqual(['end-session 265', 'start-session 9']))
})

test('a thousand equal commands wait as one', async () => {
  const producer = produce()
  for (let n = 0; n < 10; n++) {
    await Promise.all(Array.from({ length: 100 }, () => producer.add([{ kind: 'send', deviceId: 10 }])))
  }
  expect(await countJobs(10)).toBe(1)
})

test('later commands are not lost after an owner was killed', async () => {
  const shard = 11
  const producer = produce()
  let isTaken = false
  const former = await consume(shard, {
    send: () => {
      isTaken = true
      return new Promise(() => undefined)
    },
  })
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(isTaken).toBe(true))
  await producer.add([{ kind: 'send', deviceId: shard }])
  await former.close()

  let runs = 0
  await consume(shard, { send: async () => void runs++ })
  expect(await countJobs(shard)).toBe(0)
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(1))
})

test('later commands are not lost after one was delivered over a lost connection', async () => {
  const shard = 23
  const proxy = await startProxy()
  let runs = 0
  let drops = 0
  const connection = open(proxy.url)
  const consumer = await startCommandConsumer(connection, {
    shard,
    handlers: handlers({ send: async () => void runs++ }),
    onError: ignoreErrors,
    onDropped: () => drops++,
  })
  closers.push(() => consumer.close())
  proxy.cut()
  const producer = produce()
  await producer.add([{ kind: 'send', deviceId: shard }])
  await takeCommand(shard)
  proxy.heal()
  await vi.waitFor(() => expect(drops).toBe(1), { timeout: 5000 })
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(1), { timeout: 10_000 })
})

test('later commands are not lost after Redis refused to record the end of one', async () => {
  const shard = 25
  const redis = await startOwnRedis()
  closers.push(redis.close)
  const errors: Error[] = []
  let runs = 0
  let drops = 0
  const consumer = await startCommandConsumer(open(redis.url), {
    shard,
    handlers: handlers({
      send: async () => {
        runs++
        // Refuses every write, as with a full disk.
        if (runs === 1) await redis.set('min-replicas-to-write', '1')
      },
    }),
    onError: (error) => errors.push(error),
    onDropped: () => drops++,
  })
  closers.push(() => consumer.close())
  const producer = produce(redis.url)
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(errors.join()).toContain('NOREPLICAS'), { timeout: 5000 })
  await redis.set('min-replicas-to-write', '0')
  await vi.waitFor(() => expect(drops).toBeGreaterThan(0), { timeout: 10_000 })
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(2), { timeout: 10_000 })
})

test('a failing handler is reported and does not stop the next command', async () => {
  const shard = 12
  const errors: Error[] = []
  let runs = 0
  const connection = open()
  const consumer = await startCommandConsumer(connection, {
    shard,
    handlers: handlers({
      send: async () => {
        runs++
        if (runs === 1) throw new Error('planted')
      },
    }),
    onError: (error) => errors.push(error),
  })
  closers.push(() => consumer.close())
  const producer = produce()
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(errors.map(({ message }) => message)).toEqual(['planted']))
  await producer.add([{ kind: 'send', deviceId: shard }])
  await vi.waitFor(() => expect(runs).toBe(2))
})

test('adding rejects at once without Redis, and recovers when it is back', async () => {
  const proxy = await startProxy()
  const producer = produce(proxy.url)
  await producer.add([{ kind: 'send', deviceId: 13 }])
  proxy.cut()
  await vi.waitFor(async () => {
    const startedAt = performance.now()
    await expect(producer.add([{ kind: 'send', deviceId: 14 }])).rejects.toThrow()
    expect(performance.now() - startedAt).toBeLessThan(100)
  })
  proxy.heal()
  await vi.waitFor(() => producer.add([{ kind: 'send', deviceId: 15 }]), { timeout: 5000 })
})

test('adding rejects within 2.5 seconds when Redis does not answer', async () => {
  const proxy = await startProxy()
  const producer = produce(proxy.url)
  await producer.add([{ kind: 'send', deviceId: 16 }])
  proxy.freeze()
  const startedAt = performance.now()
  await expect(producer.add([{ kind: 'send', deviceId: 17 }])).rejects.toThrow()
  expect(performance.now() - startedAt).toBeLessThan(2500)
})

test('a consumer that starts without Redis does not block its caller, and begins when Redis is available', async () => {
  const proxy = await startProxy()
  proxy.cut()
  let runs = 0
  const startedAt = performance.now()
  await consume(18, { send: async () => void runs++ }, open(proxy.url))
  expect(performance.now() - startedAt).toBeLessThan(1000)
  proxy.heal()
  const producer = produce()
  await vi.waitFor(
    async () => {
      await producer.add([{ kind: 'send', deviceId: 18 }])
      expect(runs).toBeGreaterThan(0)
    },
    { timeout: 10_000 },
  )
})

test.each(['cut', 'freeze'] as const)(
  'a consumer recovers after: %s',
  async (mode) => {
    const shard = mode === 'cut' ? 19 : 24
    const proxy = await startProxy()
    let runs = 0
    let drops = 0
    const consumer = await startCommandConsumer(open(proxy.url), {
      shard,
      handlers: handlers({ send: async () => void runs++ }),
      onError: ignoreErrors,
      onDropped: () => drops++,
    })
    closers.push(() => consumer.close())
    const producer = produce()
    await producer.add([{ kind: 'send', deviceId: shard }])
    await vi.waitFor(() => expect(runs).toBe(1))
    proxy[mode]()
    await producer.add([{ kind: 'send', deviceId: shard }])
    // Existing connections stay silent: the blocking read ends after 5 s, and the silence is detected 8 s later.
    proxy.forget()
    await vi.waitFor(() => expect(drops).toBe(1), { timeout: 25_000 })
    await producer.add([{ kind: 'send', deviceId: shard }])
    await vi.waitFor(() => expect(runs).toBe(2), { timeout: 15_000 })
    await vi.waitFor(async () => expect(await countJobs(shard)).toBe(0))
  },
  40_000,
)

test.each(['open', 'cut', 'freeze'] as const)('closes within 200 ms: %s', async (mode) => {
  const proxy = await startProxy()
  const connection = openConsumerConnection(proxy.url, ignoreErrors)
  const consumers = await Promise.all(
    [20, 21, 22].map((shard) =>
      startCommandConsumer(connection, { shard, handlers: handlers({}), onError: ignoreErrors }),
    ),
  )
  if (mode !== 'open') proxy[mode]()
  const startedAt = performance.now()
  await Promise.all(consumers.map((consumer) => consumer.close()))
  await Promise.all(consumers.map((consumer) => consumer.close()))
  await connection.close()
  expect(performance.now() - startedAt).toBeLessThan(200)
})

test('a closed consumer leaves no listeners on the shared connection', async () => {
  const { redis } = open()
  const countListeners = () =>
    redis.eventNames().reduce((total, name) => total + redis.listenerCount(name), 0)
  const before = countListeners()
  for (let n = 0; n < 5; n++) {
    const consumer = await consume(
      25,
      { send: async () => undefined },
      { redis, close: async () => undefined },
    )
    await consumer.close()
  }
  expect(countListeners()).toBe(before)
})

function produce(url = redisUrl) {
  const producer = openCommandProducer(url, { shards, onError: ignoreErrors })
  closers.push(() => producer.close())
  return producer
}

function open(url = redisUrl) {
  const connection = openConsumerConnection(url, ignoreErrors)
  closers.push(() => connection.close())
  return connection
}

async function consume(shard: number, given: Partial<CommandHandlers>, connection = open()) {
  const consumer = await startCommandConsumer(connection, {
    shard,
    handlers: handlers(given),
    onError: ignoreErrors,
  })
  closers.push(() => consumer.close())
  return consumer
}

function handlers(given: Partial<CommandHandlers>): CommandHandlers {
  const unexpected = async () => {
    throw new Error('No such command was expected')
  }
  return {
    send: unexpected,
    'start-session': unexpected,
    'end-session': unexpected,
    'apply-settings': unexpected,
    'check-number': unexpected,
    'request-pairing-code': unexpected,
    ...given,
  }
}

async function startProxy(): Promise<TcpProxy> {
  const proxy = await startTcpProxy(redisUrl)
  closers.push(() => proxy.close())
  return proxy
}

/** As Redis does when the reply to the owner is lost. */
async function takeCommand(shard: number): Promise<void> {
  const redis = connectForConsumers(redisUrl, ignoreErrors)
  const { name, prefix } = commandQueue(shard)
  const taker = new Worker(name, undefined, { connection: redis, prefix, lockDuration: 3_600_000 })
  expect(await taker.getNextJob('lost')).toBeDefined()
  await taker.close(true)
  redis.disconnect()
}

async function countJobs(shard: number): Promise<number> {
  const redis = connectForConsumers(redisUrl, ignoreErrors)
  const { name, prefix } = commandQueue(shard)
  const queue = new Queue(name, { connection: redis, prefix, skipMetasUpdate: true })
  queue.on('error', ignoreErrors)
  try {
    const counts = await queue.getJobCounts()
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  } finally {
    await queue.close()
    redis.disconnect()
  }
}

test('the next owner resumes a queue that a killed owner left paused', async () => {
  const shard = 26
  let runs = 0
  await consume(shard, { send: async () => void runs++ })
  const { name, prefix } = commandQueue(shard)
  const former = new Queue(name, { connection: { url: redisUrl }, prefix })
  // The first step of dropping waiting commands.
  await former.pause()
  await former.close()
  const producer = produce()
  const addUntilSeen = async () => {
    await producer.add([{ kind: 'send', deviceId: shard }])
    expect(runs).toBeGreaterThan(0)
  }
  await vi.waitFor(addUntilSeen, { timeout: 10_000, interval: 100 })
})

test('the event stream stays empty after all keys were deleted', async () => {
  const shard = 27
  await consume(shard, { send: async () => undefined })
  const { name, prefix } = commandQueue(shard)
  const redis = connectForConsumers(redisUrl, ignoreErrors)
  closers.push(async () => redis.disconnect())
  const key = (part: string) => `${prefix}:${name}:${part}`
  // As FLUSHALL does, but only for this shard.
  await redis.del(key('meta'))
  const producer = produce()
  const addUntilEmpty = async () => {
    await producer.add([{ kind: 'send', deviceId: shard }])
    expect(await redis.hget(key('meta'), 'opts.maxLenEvents')).toBe('0')
    expect(await redis.xlen(key('events'))).toBeLessThanOrEqual(1)
  }
  await vi.waitFor(addUntilEmpty, { timeout: 10_000, interval: 100 })
})

test('when several consumers of a shard start at once, any one that remains gets commands', async () => {
  for (const [kept, shard] of [30, 31, 32, 33, 34, 35].entries()) {
    const seen = new Set<number>()
    const owners = await Promise.all(
      Array.from({ length: 6 }, (_, index) => consume(shard, { send: async () => void seen.add(index) })),
    )
    for (const [index, owner] of owners.entries()) if (index !== kept) await owner.close()
    const producer = produce()
    // A consumer that starts late drops commands from before its start.
    const addUntilSeen = async () => {
      await producer.add([{ kind: 'send', deviceId: shard }])
      expect([...seen]).toContain(kept)
    }
    await vi.waitFor(addUntilSeen, { timeout: 5000 })
  }
})
