import { QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq'
import type { Redis } from 'ioredis'
import { commandQueue, openCommandQueue } from './command-queue.ts'
import { findShards, type ShardState } from './find-shards.ts'

type WaitingCommand = { jobId: string; payload: unknown }

/** The waiting commands of any number of shards, over one connection that is never blocked. */
export type WaitingCommands = {
  /** Those with commands in this state. `shards` are numbers with a space between them. */
  find(shards: string, state: ShardState): Promise<ReadonlySet<number>>
  /** The oldest first. */
  list(shard: number): Promise<WaitingCommand[]>
  remove(shard: number, commands: WaitingCommand[]): Promise<void>
  /** All commands of the shard, also those that a worker is handling. */
  drop(shard: number): Promise<void>
}

export function makeWaitingCommands(redis: Redis): WaitingCommands {
  // A queue object for each shard would add listeners to the connection.
  const connection = new RedisConnection(redis, {
    shared: true,
    blocking: false,
    skipVersionCheck: true,
    skipWaitingForReady: true,
  })
  // It reports its errors.
  connection.on('error', () => undefined)
  const queueOf = (shard: number) => {
    const { name, prefix } = commandQueue(shard)
    const keys = new QueueKeys(prefix)
    const toKey = (part: string) => keys.toKey(name, part)
    const options = { connection: redis, prefix }
    return new RedisQueueBackend(connection, name, keys.getKeys(name), toKey, options, undefined, false)
  }

  /** The event stream is unused. BullMQ's scripts read its length from here, and FLUSHALL deletes it. */
  const keepNoEvents = (queue: { toKey(part: string): string }) =>
    redis.hset(queue.toKey('meta'), 'opts.maxLenEvents', 0)

  return {
    find: (shards, state) => findShards(redis, shards, state),

    async list(shard) {
      const [waiting = []] = await queueOf(shard).getJobs(['wait'], 0, -1, true)
      return waiting.map(([jobId, fields]) => ({ jobId, payload: payloadOf(fields) }))
    },

    async remove(shard, commands) {
      const queue = queueOf(shard)
      await Promise.all([keepNoEvents(queue), ...commands.map(({ jobId }) => queue.remove(jobId, false))])
    },

    async drop(shard) {
      const queue = openCommandQueue(redis, shard)
      try {
        await queue.obliterate({ force: true })
        await keepNoEvents(queue)
      } finally {
        // It has listeners on the connection.
        await queue.close()
      }
    },
  }
}

/** Redis returns a hash as a list of its fields and values. */
function payloadOf(fields: string[]): unknown {
  return JSON.parse(fields[fields.indexOf('data') + 1] ?? 'null')
}
