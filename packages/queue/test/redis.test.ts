import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { startTcpProxy } from '../../../devnet/src/harness/tcp-proxy.ts'
import { startKeeper } from '../../../devnet/src/servers/keeper.ts'
import { testRedisUrl } from '../../../devnet/src/test-database.ts'
import { refuseEvictingRedis } from '../src/redis.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

test('accepts a Redis that keeps its keys, and one that cannot be asked', async () => {
  const redisUrl = await testRedisUrl()
  await refuseEvictingRedis(redisUrl)
  const proxy = await startTcpProxy(redisUrl)
  closers.push(() => proxy.close())
  proxy.cut()
  await refuseEvictingRedis(proxy.url)
  proxy.heal()
  proxy.freeze()
  const startedAt = performance.now()
  await refuseEvictingRedis(proxy.url)
  expect(performance.now() - startedAt).toBeLessThan(4500)
})

test('refuses a Redis that drops keys, and says what to set', async () => {
  // A server of its own: the policy counts for all who use it.
  const folder = mkdtempSync(join(tmpdir(), 'wagate-redis-'))
  const vendorFolder = fileURLToPath(new URL('../../../.data/vendor', import.meta.url))
  const keeper = await startKeeper(
    { folder, logFolder: join(folder, 'logs'), vendorFolder, postgres: false, redis: true, durable: false },
    { onProgress: () => undefined },
  )
  closers.push(() => keeper.close())
  const redis = new Redis(keeper.redis?.url ?? '')
  closers.push(() => redis.quit())
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  await expect(refuseEvictingRedis(keeper.redis?.url ?? '')).rejects.toThrow(/allkeys-lru.*noeviction/)
})
