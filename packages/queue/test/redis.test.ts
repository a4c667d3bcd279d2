import { timeAwake } from '@wagate/test-kit/awake-time'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy } from '@wagate/test-kit/tcp-proxy'
import { afterEach, expect, test } from 'vitest'
import { makeDeviceEvents } from '../src/device-events.ts'
import { refuseEvictingRedis } from '../src/redis.ts'
import { openRedisLinks } from '../src/redis-links.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

test('accepts a Redis that evicts no keys, and one that does not answer', async () => {
  const redisUrl = await testRedisUrl()
  await refuseEvictingRedis(redisUrl)
  const proxy = await startTcpProxy(redisUrl)
  closers.push(() => proxy.close())
  proxy.cut()
  await refuseEvictingRedis(proxy.url)
  proxy.heal()
  proxy.freeze()
  const { awakeMs } = await timeAwake(() => refuseEvictingRedis(proxy.url))
  expect(awakeMs).toBeLessThan(4500)
})

test('refuses a Redis that evicts keys, and says what to set', async () => {
  const redis = await startOwnRedis()
  closers.push(redis.close)
  const links = openRedisLinks(redis.url, { onError: () => undefined })
  closers.push(links.close)
  const events = makeDeviceEvents(links)
  expect(await events.checkRedis()).toBe('ok')
  await redis.set('maxmemory-policy', 'allkeys-lru')
  await expect(refuseEvictingRedis(redis.url)).rejects.toThrow(/allkeys-lru.*noeviction/)
  expect(await events.checkRedis()).toMatch(/may evict keys.*allkeys-lru/)
})

test('commands of one turn of the event loop reach Redis together', async () => {
  const redis = await startOwnRedis()
  closers.push(redis.close)
  const links = openRedisLinks(redis.url, { onError: () => undefined })
  closers.push(links.close)
  await links.connected
  const countReads = async () =>
    Number(/^total_reads_processed:(\d+)/m.exec(await links.requests.info('stats'))?.[1])
  const before = await countReads()
  await Promise.all(Array.from({ length: 100 }, (_, index) => links.requests.publish('channel', `${index}`)))
  // One for the commands, one for the second question.
  expect((await countReads()) - before).toBeLessThanOrEqual(3)
})
