import { timeAwake } from '@wagate/test-kit/awake-time'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeCommandConsumers } from '../src/command-consumers.ts'
import { openRedisLinks } from '../src/redis-links.ts'
import { handlers, openTestQueues, type TestQueues } from './test-queues.ts'

const ignore = () => undefined

let queues: TestQueues
beforeAll(async () => {
  queues = await openTestQueues()
})
afterAll(() => queues.close())

// They wait for seconds, each with a connection of its own.
describe.concurrent('an outage of Redis', () => {
  test('adding rejects at once without Redis, and recovers when it is back', async () => {
    const proxy = await queues.startProxy()
    const producer = queues.produce(proxy.url)
    await producer.add([{ kind: 'send', deviceId: 13 }])
    proxy.cut()
    await vi.waitFor(async () => {
      const startedAt = performance.now()
      await expect(producer.add([{ kind: 'send', deviceId: 14 }])).rejects.toThrow()
      expect(performance.now() - startedAt).toBeLessThan(100)
    }, eventually)
    proxy.heal()
    await vi.waitFor(() => producer.add([{ kind: 'send', deviceId: 15 }]), { timeout: 5000 })
  })

  test('adding rejects within 2.5 seconds when Redis does not answer', async () => {
    const proxy = await queues.startProxy()
    const producer = queues.produce(proxy.url)
    await producer.add([{ kind: 'send', deviceId: 16 }])
    proxy.freeze()
    const { awakeMs } = await timeAwake(() =>
      expect(producer.add([{ kind: 'send', deviceId: 17 }])).rejects.toThrow(),
    )
    expect(awakeMs).toBeLessThan(2500)
  })

  test('a consumer that starts without Redis does not block its caller, and begins when Redis is available', async () => {
    const proxy = await queues.startProxy()
    proxy.cut()
    let runs = 0
    const { awakeMs } = await timeAwake(() =>
      queues.consume(
        18,
        { send: async () => void runs++ },
        { consumers: queues.consumers(proxy.url, { startMsMax: 500 }) },
      ),
    )
    expect(awakeMs).toBeLessThan(1000)
    proxy.heal()
    const producer = queues.produce()
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
      const [before, during, after] = [shard, shard + 256, shard + 512]
      const proxy = await queues.startProxy()
      // A command may be handled more often: it only wakes its device.
      const woken = new Set<number>()
      let drops = 0
      await queues.consume(
        shard,
        { send: async ({ deviceId }) => void woken.add(deviceId) },
        { consumers: queues.consumers(proxy.url), onDropped: () => drops++ },
      )
      const producer = queues.produce()
      await producer.add([{ kind: 'send', deviceId: before }])
      await vi.waitFor(() => expect(woken).toEqual(new Set([before])), eventually)
      proxy[mode]()
      await producer.add([{ kind: 'send', deviceId: during }])
      // Existing connections stay silent, which is detected 8 s after a command.
      proxy.forget()
      await vi.waitFor(() => expect(drops).toBe(1), { timeout: 25_000 })
      await producer.add([{ kind: 'send', deviceId: after }])
      await vi.waitFor(() => expect(woken).toEqual(new Set([before, during, after])), { timeout: 15_000 })
      await vi.waitFor(async () => expect(await queues.countJobs(shard)).toBe(0), { timeout: 5000 })
    },
    40_000,
  )
})

test.each(['open', 'cut', 'freeze'] as const)('closes within 200 ms: %s', async (mode) => {
  const proxy = await queues.startProxy()
  const links = openRedisLinks(proxy.url, { onError: ignore })
  const all = makeCommandConsumers(links)
  const consumers = await Promise.all(
    [20, 21, 22].map((shard) => all.start({ shard, handlers: handlers({}), onError: ignore })),
  )
  if (mode !== 'open') proxy[mode]()
  const { awakeMs } = await timeAwake(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()))
    await Promise.all(consumers.map((consumer) => consumer.close()))
    await all.close()
    await links.close()
  })
  expect(awakeMs).toBeLessThan(200)
})
