import { Redis, type RedisOptions } from 'ioredis'

export type OnRedisError = (error: Error) => void

const reconnect = {
  connectTimeout: 2000,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 1000),
  // A silent network partition would otherwise hold the connection for ever.
  socketTimeout: 8000,
} satisfies RedisOptions

const answerInTime = {
  ...reconnect,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: 2000,
} satisfies RedisOptions

/** For whoever must answer in time: a command fails at once without Redis, and after 2 s with a frozen one. */
export function connectForRequests(redisUrl: string, onError: OnRedisError): Redis {
  return new Redis(redisUrl, answerInTime).on('error', onError)
}

/** As for requests. Who subscribes does it again on `ready`: ioredis would ignore that Redis refused or went away. */
export function connectForSubscriptions(redisUrl: string, onError: OnRedisError): Redis {
  return new Redis(redisUrl, { ...answerInTime, autoResubscribe: false }).on('error', onError)
}

/**
 * For what is asked before every answer and has a substitute: a frozen Redis costs 250 ms once, then the connection
 * counts as lost until it answers again.
 */
export function connectForLimits(redisUrl: string, onError: OnRedisError): Redis {
  return new Redis(redisUrl, { ...answerInTime, commandTimeout: 250, socketTimeout: 250 }).on(
    'error',
    onError,
  )
}

/** For whoever can wait: commands stay queued until Redis is back. BullMQ asks for this of its workers. */
export function connectForConsumers(redisUrl: string, onError: OnRedisError): Redis {
  const redis = new Redis(redisUrl, { ...reconnect, maxRetriesPerRequest: null })
  return redis.on('error', onError)
}

/** Resolves at the end of the first attempt to connect, whatever its outcome, and after 2 s at the latest. */
export function firstAttempt(redis: Redis): Promise<void> {
  if (redis.status !== 'connecting' && redis.status !== 'connect') return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 2000)
    timer.unref()
    for (const event of ['ready', 'close', 'end']) redis.once(event, () => resolve())
  })
}

/**
 * Throws when this Redis may drop keys on its own: BullMQ's queues would lose parts of themselves. One that does
 * not answer cannot be asked, and may come later.
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
      `Redis is set to drop keys when its memory is full (maxmemory-policy ${policy}). Set it to noeviction.`,
    )
  }
}

/** For readiness: `ok`, or what is wrong with it. Within the time that the connection gives a command. */
export async function checkRedis(redis: Redis): Promise<string> {
  try {
    const policy = await findEvictingPolicy(redis)
    return policy ? `drops keys when its memory is full (maxmemory-policy ${policy})` : 'ok'
  } catch {
    return 'does not answer'
  }
}

async function findEvictingPolicy(redis: Redis): Promise<string | undefined> {
  const policy = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1]
  return policy === 'noeviction' ? undefined : policy
}
