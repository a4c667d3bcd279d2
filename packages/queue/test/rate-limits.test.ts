import { timeAwake } from '@wagate/test-kit/awake-time'
import { pauseProcess } from '@wagate/test-kit/pause-process'
import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openRateLimits, type RateLimiter, type RateLimits } from '../src/rate-limits.ts'

let proxy: TcpProxy
let redisUrl: string
const processes: RateLimits[] = []

beforeAll(async () => {
  redisUrl = await testRedisUrl()
  proxy = await startTcpProxy(redisUrl)
})
afterEach(async () => {
  for (const limits of processes.splice(0)) await limits.close()
})
afterAll(() => proxy.close())

function open(url = redisUrl): RateLimits {
  const limits = openRateLimits(url, { onError: () => undefined })
  processes.push(limits)
  return limits
}

let policies = 0
/** With a unique name. */
const perHour = (quota: number) => ({ name: `test-${++policies}`, quota, windowSeconds: 3600 })

async function countAllowed(limiters: RateLimiter[], key: string, times: number): Promise<number> {
  const taken = await Promise.all(
    Array.from({ length: times }, (_, n) => limiters[n % limiters.length]?.take(key)),
  )
  return taken.filter((allowance) => allowance?.isAllowed).length
}

describe('a rate limit', () => {
  it('grants the available tokens, and tells how many remain and until when', async () => {
    const limiter = open().makeLimiter(perHour(3))
    expect(await limiter.take('a')).toEqual({ isAllowed: true, remaining: 2, resetMs: expect.any(Number) })
    expect(await limiter.take('a')).toMatchObject({ isAllowed: true, remaining: 1 })
    expect(await limiter.peek('a')).toMatchObject({ isAllowed: true, remaining: 1 })
    expect(await limiter.take('a')).toMatchObject({ isAllowed: true, remaining: 0 })
    const refused = await limiter.take('a')
    expect(refused).toMatchObject({ isAllowed: false, remaining: 0 })
    // One of three tokens returns every 20 minutes.
    expect(refused.resetMs).toBeGreaterThan(1190_000)
    expect(refused.resetMs).toBeLessThanOrEqual(1200_000)
    expect(await limiter.peek('a')).toMatchObject({ isAllowed: false, remaining: 0 })
    expect(await limiter.take('b')).toMatchObject({ isAllowed: true, remaining: 2 })
  })

  it('is exact for concurrent requests of all processes together', async () => {
    const policy = perHour(100)
    const limiters = [open(), open(), open()].map(({ makeLimiter }) => makeLimiter(policy))
    expect(await countAllowed(limiters, 'a', 250)).toBe(100)
    expect(await countAllowed(limiters, 'a', 50)).toBe(0)
  })

  it.each(['with', 'without'])('lets a request for many tokens owe them, %s Redis', async (redis) => {
    if (redis === 'without') proxy.cut()
    const limiter = open(proxy.url).makeLimiter(perHour(4))
    expect(await limiter.takeMany('a', 3)).toMatchObject({ isAllowed: true, remaining: 1 })
    expect(await limiter.takeMany('a', 3)).toMatchObject({ isAllowed: true, remaining: 0 })
    // It owes two, and a token returns every 15 minutes.
    const refused = await Promise.all([limiter.take('a'), limiter.takeMany('a', 1), limiter.peek('a')])
    expect(refused.map(({ isAllowed }) => isAllowed)).toEqual([false, false, false])
    if (redis === 'with') expect(refused[0]?.resetMs).toBeGreaterThan(2.9 * 900_000)
    const concurrent = await Promise.all([
      limiter.takeMany('b', 3),
      limiter.take('b'),
      limiter.takeMany('b', 9),
    ])
    expect(concurrent.map(({ isAllowed }) => isAllowed)).toEqual([true, true, false])
    proxy.heal()
  })

  it('does not ask Redis about an empty bucket until it has a token again', async () => {
    const limiter = open(proxy.url).makeLimiter({ ...perHour(1), windowSeconds: 0.8 })
    expect((await limiter.take('a')).isAllowed).toBe(true)
    expect((await limiter.take('a')).isAllowed).toBe(false)
    // Without Redis, the limit would count in memory, where the bucket is full.
    proxy.freeze()
    for (let n = 0; n < 50; n++)
      expect(await limiter.take('a')).toMatchObject({ isAllowed: false, remaining: 0 })
    proxy.cut()
    proxy.heal()
    await vi.waitFor(async () => expect((await limiter.take('a')).isAllowed).toBe(true), { timeout: 5000 })
  })

  it('refills evenly, up to the quota', async () => {
    const limiter = open().makeLimiter({ ...perHour(100), windowSeconds: 2 })
    expect(await countAllowed([limiter], 'a', 150)).toBeGreaterThanOrEqual(100)
    await vi.waitFor(async () => expect((await limiter.peek('a')).remaining).toBe(100), {
      timeout: 5000,
      interval: 50,
    })
  })

  it('counts in memory without Redis, and for all processes again afterwards', async () => {
    const limiter = open(proxy.url).makeLimiter(perHour(5))
    await limiter.take('a')
    for (const fail of [proxy.cut, proxy.freeze]) {
      fail()
      const key = fail === proxy.cut ? 'cut' : 'frozen'
      const { awakeMs } = await timeAwake(async () => {
        expect(await countAllowed([limiter], key, 20)).toBe(5)
        for (let n = 0; n < 20; n++) expect(await limiter.take(key)).toMatchObject({ isAllowed: false })
      })
      expect(awakeMs).toBeLessThan(1500)
      proxy.cut()
      proxy.heal()
      await vi.waitFor(async () => expect(await limiter.peek('a')).toMatchObject({ remaining: 4 }), {
        timeout: 5000,
        interval: 50,
      })
    }
  })

  it('holds when the process is paused before it reads the answer', async () => {
    const policy = perHour(1)
    const [paused, other] = [open(), open()].map(({ makeLimiter }) => makeLimiter(policy))
    await paused?.peek('a')
    await other?.take('a')
    const taking = paused?.take('a')
    // Until the command is written.
    await new Promise((resolve) => setImmediate(resolve))
    pauseProcess(400)
    expect(await taking).toMatchObject({ isAllowed: false })
  })

  it('can be used before Redis has answered for the first time', async () => {
    proxy.freeze()
    const limiter = open(proxy.url).makeLimiter(perHour(1))
    try {
      expect(await limiter.take('a')).toMatchObject({ isAllowed: true })
      expect(await limiter.take('a')).toMatchObject({ isAllowed: false })
    } finally {
      proxy.cut()
      proxy.heal()
    }
  })
})
