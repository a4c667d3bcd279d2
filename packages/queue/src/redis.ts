import { gatherWrites } from '@wagate/runtime/gather-writes'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import { Redis, type RedisOptions } from 'ioredis'

export type OnRedisError = (error: Error) => void

/** With jitter, so that the connections of all processes do not return at the same moment. */
const reconnectPause = { firstMs: 50, maxMs: 1000 }

const reconnect = {
  connectTimeout: 2000,
  retryStrategy: (failures: number) => growingPauseMs(failures, reconnectPause),
  // Without this limit, a network partition could block the connection indefinitely.
  socketTimeout: 8000,
} satisfies RedisOptions

const answerInTime = {
  ...reconnect,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: 2000,
} satisfies RedisOptions

/** For requests with a deadline: a command fails at once without Redis, and after 2 s when Redis does not answer. */
export function connectForRequests(redisUrl: string, onError: OnRedisError): Redis {
  const redis = new Redis(redisUrl, answerInTime).on('error', onError)
  return redis.on('connect', () => gatherWrites(redis.stream))
}

/** As for requests. Callers subscribe again on `ready`, because ioredis would ignore errors when it resubscribes. */
export function connectForSubscriptions(redisUrl: string, onError: OnRedisError): Redis {
  return new Redis(redisUrl, { ...answerInTime, autoResubscribe: false }).on('error', onError)
}

/**
 * For commands that have a fallback. A caller that gets no answer in time disconnects: the connection counts as lost until
 * Redis answers again.
 */
export function connectForLimits(redisUrl: string, onError: OnRedisError): Redis {
  return new Redis(redisUrl, { ...answerInTime, socketTimeout: 2000 }).on('error', onError)
}

/** For commands that can wait: they stay queued until Redis is back. BullMQ requires this for its workers. */
export function connectForConsumers(redisUrl: string, onError: OnRedisError): Redis {
  const redis = new Redis(redisUrl, { ...reconnect, maxRetriesPerRequest: null })
  return redis.on('error', onError)
}

/** Resolves when the first connection attempt has succeeded or failed, after 2 s at the latest. */
export function firstAttempt(redis: Redis): Promise<void> {
  if (redis.status !== 'connecting' && redis.status !== 'connect') return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 2000)
    timer.unref()
    for (const event of ['ready', 'close', 'end']) redis.once(event, () => resolve())
  })
}

/**
 * Throws when this Redis may evict keys, because BullMQ's queues would become inconsistent. Accepts a Redis that does not
 * answer, since it may become available later.
 */
export async function refuseEvictingRedis(redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl, {
    connectTimeout: 2000,
    commandTimeout: 2000,
    lazyConnect: true,
    retryStrategy: () => null,
  })
  redis.on('error', () => undefined)
  const policy = await redis
    .connect()
    .then(() => findEvictingPolicy(redis))
    .catch(() => undefined)
  redis.disconnect()
  if (policy) {
    throw new Error(
      `Redis may evict keys when its memory is full (maxmemory-policy ${policy}). Set maxmemory-policy to noeviction.`,
    )
  }
}

/** For readiness: `ok` or the problem, within the command timeout of the connection. */
export async function checkRedis(redis: Redis): Promise<string> {
  try {
    const policy = await findEvictingPolicy(redis)
    return policy ? `may evict keys when its memory is full (maxmemory-policy ${policy})` : 'ok'
  } catch {
    return 'does not answer'
  }
}

async function findEvictingPolicy(redis: Redis): Promise<string | undefined> {
  const policy = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1]
  return policy === 'noeviction' ? undefined : policy
}
