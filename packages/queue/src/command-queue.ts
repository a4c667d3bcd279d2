import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { OnRedisError } from './redis.ts'

/** The queue of a shard. Its name and prefix must not change: several versions share it during a rolling upgrade. */
export function commandQueue(shard: number): { name: string; prefix: string } {
  return { name: `commands-${shard}`, prefix: `{wa:${shard}}` }
}

/** With the three skip options, BullMQ sends no further commands and never waits for a connection. */
export function openCommandQueue(redis: Redis, shard: number, onError: OnRedisError): Queue {
  const { name, prefix } = commandQueue(shard)
  const queue = new Queue(name, {
    connection: redis,
    prefix,
    skipMetasUpdate: true,
    skipVersionCheck: true,
    skipWaitingForReady: true,
  })
  queue.on('error', onError)
  return queue
}
