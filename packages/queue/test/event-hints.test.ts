import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy } from '@wagate/test-kit/tcp-proxy'
import { eventually } from '@wagate/test-kit/until'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type EventHints, makeEventHints } from '../src/event-hints.ts'
import { openRedisLinks } from '../src/redis-links.ts'

const closers: (() => Promise<unknown>)[] = []
// Channels span all databases of Redis, and other test files may use the same server.
const firstAccount = 1_500_000_000 + Math.floor(Math.random() * 500_000_000)
let redisUrl: string

beforeAll(async () => {
  redisUrl = await testRedisUrl()
})
afterAll(() => Promise.all(closers.map((close) => close())))

function open(url = redisUrl): EventHints {
  const links = openRedisLinks(url, { onError: () => undefined })
  const hints = makeEventHints(links)
  closers.push(hints.close, links.close)
  return hints
}

/** Publishes until the listener hears it: nothing tells when its subscription exists. */
async function untilHeard(from: EventHints, heard: number[], accountId: number): Promise<void> {
  await vi.waitFor(
    () => {
      from.publish(accountId)
      expect(heard).toContain(accountId)
    },
    { timeout: 10_000, interval: 100 },
  )
}

test('wakes the readers of all processes', async () => {
  const [here, there] = [open(), open()]
  const [heardHere, heardThere]: [number[], number[]] = [[], []]
  here.onEvents((accountId) => heardHere.push(accountId))
  there.onEvents((accountId) => heardThere.push(accountId))
  await untilHeard(here, heardThere, firstAccount)
  await untilHeard(there, heardHere, firstAccount + 1)
})

test('many events of many accounts are a few messages to Redis', async () => {
  const [publisher, reader] = [open(), open()]
  const heard: number[] = []
  reader.onEvents((accountId) => heard.push(accountId))
  await untilHeard(publisher, heard, firstAccount + 2)
  const messages: string[] = []
  const spy = new Redis(redisUrl)
  closers.push(() => spy.quit())
  await spy.subscribe('wa:events')
  spy.on('message', (_, message) => messages.push(message))

  const accounts = Array.from({ length: 100 }, (_, index) => firstAccount + 1000 + index)
  for (let count = 0; count < 10; count++) for (const accountId of accounts) publisher.publish(accountId)
  await vi.waitFor(() => expect(heard).toEqual(expect.arrayContaining(accounts)), eventually)
  await untilHeard(publisher, heard, firstAccount + 3)
  const ours = messages.filter((message) => message.includes(String(accounts[0])))
  expect(ours).toEqual([accounts.join(' ')])
})

test('a publisher and its readers continue after an outage of Redis', async () => {
  const proxy = await startTcpProxy(redisUrl)
  closers.push(() => proxy.close())
  const hints = open(proxy.url)
  const heard: number[] = []
  hints.onEvents((accountId) => heard.push(accountId))
  await untilHeard(hints, heard, firstAccount + 4)
  proxy.cut()
  hints.publish(firstAccount + 5)
  proxy.heal()
  await untilHeard(hints, heard, firstAccount + 6)
})
