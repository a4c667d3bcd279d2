import { makeNaturalBatch } from '@wagate/shared/natural-batch'
import type { Running } from '@wagate/shared/running'
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { connectForLimits, firstAttempt, type OnRedisError } from './redis.ts'

/** A bucket of `quota` tokens that is full again after `windowSeconds`. */
export type RateLimitPolicy = { name: string; quota: number; windowSeconds: number }

export type Allowance = {
  isAllowed: boolean
  /** Tokens left. */
  remaining: number
  /** Until the bucket is full, or until there is a token again when it is empty. */
  resetMs: number
}

export type RateLimiter = {
  readonly policy: RateLimitPolicy
  /** Takes a token. */
  take(key: string): Promise<Allowance>
  /** Takes none. */
  look(key: string): Promise<Allowance>
}

export type RateLimits = Running & {
  /** Counts for all processes; without Redis each counts for itself. Never fails, and answers within 250 ms. */
  makeLimiter(policy: RateLimitPolicy): RateLimiter
}

/** One connection, which all limiters share. */
export function openRateLimits(redisUrl: string, { onError }: { onError: OnRedisError }): RateLimits {
  const redis = connectForLimits(redisUrl, onError)
  const connected = firstAttempt(redis)

  return {
    makeLimiter(policy) {
      const limiter = openLimiter(redis, policy)
      // Requests that come together ask together: one command for each key, not for each request.
      const batch = makeNaturalBatch<string, Allowance>(
        async (keys) => {
          await connected
          return takeAll(limiter, keys)
        },
        { itemsMax: 1000 },
      )
      return {
        policy,
        take: batch.add,
        async look(key) {
          await connected
          const { tokens, resetMs } = await ask(limiter, key, 0)
          return { isAllowed: tokens > 0, remaining: tokens, resetMs }
        },
      }
    },
    async close() {
      redis.disconnect()
    },
  }
}

function openLimiter(redis: Redis, { name, quota, windowSeconds }: RateLimitPolicy): RateLimiterRedis {
  const options = { keyPrefix: `wa:limit:${name}`, points: quota, duration: windowSeconds }
  return new RateLimiterRedis({
    ...options,
    storeClient: redis,
    customIncrTtlLuaScript: tokenBucket,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(options),
    // Who is refused is refused from memory until there is a token again.
    inMemoryBlockOnConsumed: quota,
  })
}

/**
 * The library counts in fixed windows, which let twice the quota through where two of them meet. This keeps instead
 * the moment at which the bucket will be full again (GCRA), and gives as many of the wanted tokens as there are.
 * Arguments and answer are the library's: `[wanted, _, quota, windowSeconds]` and `{consumed, ms}`, where more
 * consumed than the quota means that so many were refused.
 */
const tokenBucket = `
local wanted, quota, windowMs = tonumber(ARGV[1]), tonumber(ARGV[3]), 1000 * tonumber(ARGV[4])
local time = redis.call('TIME')
local nowMs = 1000 * time[1] + time[2] / 1000
local tokenMs = windowMs / quota
local fullInMs = math.max(0, tonumber(redis.call('GET', KEYS[1]) or nowMs) - nowMs)
local tokens = math.floor((windowMs - fullInMs) / tokenMs + 0.001)
local given = math.min(wanted, tokens)
if given > 0 then
  fullInMs = fullInMs + given * tokenMs
  redis.call('SET', KEYS[1], string.format('%.3f', nowMs + fullInMs), 'PX', math.ceil(fullInMs))
end
local resetMs = fullInMs
if tokens == given then resetMs = fullInMs + tokenMs - windowMs end
return {quota - tokens + wanted, math.max(1, math.ceil(resetMs))}`

async function takeAll(limiter: RateLimiterRedis, keys: string[]): Promise<Allowance[]> {
  const wanted = new Map<string, number>()
  for (const key of keys) wanted.set(key, (wanted.get(key) ?? 0) + 1)
  const found = new Map<string, Found>()
  await Promise.all([...wanted].map(async ([key, count]) => found.set(key, await ask(limiter, key, count))))
  return keys.map((key) => {
    const bucket = found.get(key) ?? { tokens: 0, resetMs: 0 }
    const isAllowed = bucket.tokens > 0
    bucket.tokens = Math.max(0, bucket.tokens - 1)
    return { isAllowed, remaining: bucket.tokens, resetMs: bucket.resetMs }
  })
}

/** The tokens that were there before as many as wanted were taken. */
type Found = { tokens: number; resetMs: number }

async function ask(limiter: RateLimiterRedis, key: string, wanted: number): Promise<Found> {
  try {
    return toFound(limiter, wanted, await limiter.consume(key, wanted))
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal
    // A refusal from memory does not say how much is consumed: it is all.
    if (refusal.consumedPoints === 0) return { tokens: 0, resetMs: refusal.msBeforeNext }
    return toFound(limiter, wanted, refusal)
  }
}

function toFound({ points }: RateLimiterRedis, wanted: number, result: RateLimiterRes): Found {
  return { tokens: Math.max(0, points + wanted - result.consumedPoints), resetMs: result.msBeforeNext }
}
