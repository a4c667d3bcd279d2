import { closeDatabase, openDatabase } from '@wagate/db/client'
import { askRedis } from '@wagate/local-servers/ask-redis'
import { type DeviceEvents, makeDeviceEvents } from '@wagate/queue/device-events'
import { openRedisLinks, type RedisLinks } from '@wagate/queue/redis-links'
import { makeMessageId } from '@wagate/shared/ids'
import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Deadline } from '../src/http/deadline.ts'
import { makeOutcomeSubscriptions } from '../src/messages/outcome-subscriptions.ts'
import { awaitOutcome, makeOutcomeWaits } from '../src/messages/outcome-waits.ts'

// Channels span all databases of Redis, and other test files may use the same server.
let deviceId = 500_000_000 + Math.floor(Math.random() * 500_000_000)
let redisUrl: string
let proxy: TcpProxy
let links: RedisLinks
let events: DeviceEvents
let heard: string[]

beforeAll(async () => {
  redisUrl = await testRedisUrl()
  proxy = await startTcpProxy(redisUrl)
  links = openRedisLinks(proxy.url, { onError: () => undefined })
  events = makeDeviceEvents(links)
})
afterAll(() => Promise.all([links.close(), proxy.close()]))
beforeEach(() => {
  deviceId += 10
  heard = []
})

const open = (options = { keepMs: 60_000, keptMax: 10 }) =>
  makeOutcomeSubscriptions(
    events,
    (event) => heard.push(event.kind === 'message' ? event.messageId : event.kind),
    options,
  )
type Subscriptions = ReturnType<typeof open>

/** Resolves to how many subscribers there were. */
async function publish(messageId: string, device = deviceId, isStored?: boolean): Promise<string> {
  const event = JSON.stringify({ kind: 'message', messageId, status: 'sent', isStored })
  const [subscribers] = await askRedis(new URL(redisUrl), [['PUBLISH', `wa:device:${device}`, event]])
  return String(subscribers)
}

/** A request that has subscribed and ended. */
async function use(subscriptions: Subscriptions, sender = 'sender', device = deviceId): Promise<boolean> {
  const subscription = subscriptions.begin(sender)
  const hasHeardAll = await subscription.listen(device)
  subscription.end()
  return hasHeardAll
}

test('the first request of a sender may have missed events, the next hears those before its message is stored', async () => {
  const subscriptions = open()
  expect(await use(subscriptions)).toBe(false)
  const next = subscriptions.begin('sender')
  await publish('while it is stored')
  expect(await next.listen(deviceId)).toBe(true)
  await vi.waitFor(() => expect(heard).toEqual(['while it is stored']), eventually)
  next.end()
})

test('a further message of a sender is waited for without a statement, unless its event does not say what is stored', async () => {
  // Nothing listens there.
  const db = openDatabase('postgres://127.0.0.1:1/none', {
    poolSize: 1,
    applicationName: 'test',
    statementTimeoutMs: 1000,
  })
  const outcomeWaits = makeOutcomeWaits(db, { events, closing: new AbortController().signal })
  const call = {
    principal: { accountId: 1 },
    deadline: new Deadline(4500),
    context: { messages: { outcomeWaits } },
  }
  const begin = (id: string) => outcomeWaits.begin(1, 'sender', id) ?? expect.fail('too many waits')
  const first = begin('first')
  await first.listen({ messageId: 'first', deviceId })
  first.end()

  const olderId = makeMessageId('15550000001')
  const [next, older] = [begin('next'), begin(olderId)]
  // Events may come before the answer to the statement that stores the message. Here they do: one that comes after the
  // next poll, which may be due at once, is not waited for.
  const received: string[] = []
  const leave = await events.subscribe(deviceId, (event) => {
    if (event.kind === 'message') received.push(event.messageId)
  })
  await publish('next', deviceId, true)
  await publish(olderId, deviceId)
  await vi.waitFor(() => expect(received).toEqual(['next', olderId]), eventually)
  const progress = await awaitOutcome(call, next, { messageId: 'next', deviceId }, 20_000)
  expect(progress).toEqual({ status: 'sent', error: null, errorCode: null })
  const asking = awaitOutcome(call, older, { messageId: olderId, deviceId }, 20_000)
  await expect(asking).rejects.toThrow('ECONNREFUSED')
  await leave()
  await closeDatabase(db)
})

test('concurrent first requests share a subscription, which is confirmed for all of them', async () => {
  const subscriptions = open()
  const both = [subscriptions.begin('sender'), subscriptions.begin('sender')]
  const listening = both.map((one) => one.listen(deviceId).then(() => publish('x')))
  expect(await Promise.all(listening)).toEqual([':1', ':1'])
  await vi.waitFor(() => expect(heard).toEqual(['x', 'x']), eventually)
})

test('a sender with another device than before is subscribed again', async () => {
  const subscriptions = open()
  await use(subscriptions)
  expect(await use(subscriptions, 'sender', deviceId + 1)).toBe(false)
  await vi.waitFor(async () => expect(await publish('of the old', deviceId)).toBe(':0'), eventually)
  expect(await use(subscriptions, 'sender', deviceId + 1)).toBe(true)
})

test('after a lost connection, no request counts on events from before its own subscription', async () => {
  const subscriptions = open()
  await use(subscriptions)
  const during = subscriptions.begin('sender')
  const losses = events.countLosses()
  proxy.cut()
  await vi.waitFor(() => expect(events.countLosses()).toBeGreaterThan(losses), eventually)
  expect(await publish('missed')).toBe(':0')
  // Without Redis nothing is heard, and it is no error.
  expect(await use(subscriptions)).toBe(false)
  proxy.heal()
  // The listeners are subscribed again, which does not tell what was missed.
  await vi.waitFor(async () => expect(await publish('resubscribed')).toBe(':1'), { timeout: 10_000 })
  expect(await during.listen(deviceId)).toBe(false)
  expect(await use(subscriptions)).toBe(true)
  heard = []
  await publish('once')
  await publish('more')
  await vi.waitFor(() => expect(heard).toEqual(['once', 'more']), eventually)
  during.end()
})

test('a subscription ends some time after its last request, and at once beyond the limit', async () => {
  const subscriptions = open({ keepMs: 100, keptMax: 1 })
  const used = subscriptions.begin('used')
  await used.listen(deviceId)
  await use(subscriptions, 'second', deviceId + 1)
  await vi.waitFor(async () => expect(await publish('x', deviceId + 1)).toBe(':0'), { interval: 5 })
  used.end()
  await vi.waitFor(async () => expect(await publish('x')).toBe(':0'), eventually)
})
