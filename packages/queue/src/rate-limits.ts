import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import type { Running } from '@wagate/runtime/running'
import { within } from '@wagate/runtime/within'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { connectForLimits, firstAttempt, type OnRedisError } from './redis.ts'

/** A bucket of `quota` tokens that is full again after `windowSeconds`. */
type RateLimitPolicy = { name: string; quota: number; windowSeconds: number }

export type Allowance = {
  isAllowed: boolean
  /** Remaining tokens. */
  remaining: number
  /** Until the bucket is full, or if it is empty, until the next token. */
  resetMs: number
}

export type RateLimiter = {
  readonly policy: RateLimitPolicy
  /** Takes a token. */
  take(key: string): Promise<Allowance>
  /**
   * Takes several tokens if the bucket has one. What it has too few becomes a debt: later requests wait until it is refilled, so
   * that a bucket of any size admits a large request.
   */
  takeMany(key: string, count: number): Promise<Allowance>
  /** Takes no token. */
  peek(key: string): Promise<Allowance>
}

export type RateLimits = Running & {
  /** Counts for all processes together. Without Redis, each counts alone. Never fails, and answers within 250 ms. */
  makeLimiter(policy: RateLimitPolicy): RateLimiter
}

/** A Redis that does not answer costs a request this much, once: until it answers again, processes count alone. */
const answerMs = 250

type Bucket = { tokens: number; resetMs: number }
/** `mayOwe`: it gets all of its tokens if the bucket has one. */
type Wanted = { key: string; count: number; mayOwe: boolean }

/**
 * The longest time for which an empty bucket counts as empty without asking Redis. Refusing floods should cost little, and
 * what was counted without Redis should expire soon.
 */
const emptyMsMax = 1000
const emptyBucketsMax = 10_000

/** Opens one connection for all limiters. */
export function openRateLimits(redisUrl: string, { onError }: { onError: OnRedisError }): RateLimits {
  const redis = connectForLimits(redisUrl, onError)
  const connected = firstAttempt(redis)

  async function drawFromRedis(policy: RateLimitPolicy, wanted: Wanted[]): Promise<Bucket[]> {
    // The braces keep the buckets of a policy in one slot of a Redis Cluster.
    const keys = wanted.map(({ key }) => `{wa:limit:${policy.name}}:${key}`)
    const counts = wanted.map(({ count, mayOwe }) => (mayOwe ? -count : count))
    const windowMs = 1000 * policy.windowSeconds
    const answer = await within(
      answerMs,
      redis.eval(drawTokens, keys.length, ...keys, policy.quota, windowMs, ...counts),
    )
    if (!answer) {
      redis.disconnect(true)
      throw new Error(`Redis did not answer within ${answerMs} ms`)
    }
    return (answer as [number, number][]).map(([tokens, resetMs]) => ({ tokens, resetMs }))
  }

  return {
    makeLimiter(policy) {
      const memory = new RateLimiterMemory({ points: policy.quota, duration: policy.windowSeconds })
      /** Until when a bucket is not asked for, and when it has a token, by this process's clock. */
      const empty = new Map<string, { untilMs: number; tokenAtMs: number }>()

      async function draw(wanted: Wanted[]): Promise<Bucket[]> {
        await connected
        if (redis.status === 'ready') {
          try {
            return await drawFromRedis(policy, wanted)
          } catch (error) {
            onError(error as Error)
          }
        }
        return Promise.all(wanted.map((each) => drawFromMemory(memory, each)))
      }

      // Concurrent requests share one round trip, also those with different keys.
      const batch = makeNaturalBatch<Wanted, Allowance>(
        async (requests) => {
          const drawn = joined(requests)
          return share(requests, drawn, await draw(drawn))
        },
        { itemsMax: 500 },
      )

      function noteEmpty(key: string, forMs: number): void {
        if (empty.size >= emptyBucketsMax) empty.clear()
        const nowMs = performance.now()
        empty.set(key, { untilMs: nowMs + Math.min(forMs, emptyMsMax), tokenAtMs: nowMs + forMs })
      }

      async function take(key: string, count: number, mayOwe: boolean): Promise<Allowance> {
        const known = empty.get(key)
        const nowMs = performance.now()
        if (known && known.untilMs > nowMs) {
          return { isAllowed: false, remaining: 0, resetMs: Math.ceil(known.tokenAtMs - nowMs) }
        }
        empty.delete(key)
        const allowance = await batch.add({ key, count, mayOwe })
        if (!allowance.isAllowed) noteEmpty(key, allowance.resetMs)
        return allowance
      }

      return {
        policy,
        take: (key) => take(key, 1, false),
        takeMany: (key, count) => take(key, count, true),
        peek: (key) => batch.add({ key, count: 0, mayOwe: false }),
      }
    },
    async close() {
      redis.disconnect()
    },
  }
}

/** Requests for single tokens of a key are drawn together, and before those that may owe. */
function joined(requests: Wanted[]): Wanted[] {
  const counts = new Map<string, number>()
  for (const { key, count, mayOwe } of requests) if (!mayOwe) counts.set(key, (counts.get(key) ?? 0) + count)
  const singles = [...counts].map(([key, count]) => ({ key, count, mayOwe: false }))
  return [...singles, ...requests.filter(({ mayOwe }) => mayOwe)]
}

/** First come, first served. */
function share(requests: Wanted[], drawn: Wanted[], buckets: Bucket[]): Allowance[] {
  const bucketOf = new Map(drawn.map((each, index) => [each.mayOwe ? each : each.key, buckets[index]]))
  return requests.map((request) => {
    const bucket = bucketOf.get(request.mayOwe ? request : request.key) ?? { tokens: 0, resetMs: 0 }
    const isAllowed = bucket.tokens > 0
    if (isAllowed) bucket.tokens = Math.max(0, bucket.tokens - request.count)
    return { isAllowed, remaining: bucket.tokens, resetMs: bucket.resetMs }
  })
}

async function drawFromMemory(memory: RateLimiterMemory, { key, count, mayOwe }: Wanted): Promise<Bucket> {
  if (mayOwe) {
    const counted = await memory.get(key)
    if (counted && counted.remainingPoints <= 0) return { tokens: 0, resetMs: counted.msBeforeNext }
    const { consumedPoints, msBeforeNext } = await memory.penalty(key, count)
    return { tokens: memory.points + count - consumedPoints, resetMs: msBeforeNext }
  }
  const { consumedPoints, msBeforeNext } = await memory.consume(key, count).catch((refusal: unknown) => {
    if (refusal instanceof RateLimiterRes) return refusal
    throw refusal
  })
  return { tokens: Math.max(0, memory.points + count - consumedPoints), resetMs: msBeforeNext }
}

/**
 * Token buckets (GCRA). A bucket is stored as the time at which it will be full again, and a full one is not stored. Gives
 * each key as many of the wanted tokens as it has, or all of them (a negative number) if it has one, and returns how many it
 * had, and `resetMs`.
 */
const drawTokens = `
local quota, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local nowMs = 1000 * time[1] + time[2] / 1000
local tokenMs = windowMs / quota
local buckets = {}
for index, key in ipairs(KEYS) do
  local fullInMs = math.max(0, tonumber(redis.call('GET', key) or nowMs) - nowMs)
  local tokens = math.max(0, math.floor((windowMs - fullInMs) / tokenMs + 0.001))
  local wanted = tonumber(ARGV[2 + index])
  local given = math.min(wanted, tokens)
  if wanted < 0 then given = tokens > 0 and -wanted or 0 end
  if given > 0 then
    fullInMs = fullInMs + given * tokenMs
    redis.call('SET', key, string.format('%.3f', nowMs + fullInMs), 'PX', math.ceil(fullInMs))
  end
  local resetMs = fullInMs
  if tokens <= given then resetMs = fullInMs + tokenMs - windowMs end
  buckets[index] = {tokens, math.max(1, math.ceil(resetMs))}
end
return buckets`
