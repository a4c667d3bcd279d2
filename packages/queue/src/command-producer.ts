import type { Running } from '@wagate/runtime/running'
import { type Command, commandSchema } from '@wagate/shared/commands'
import { shardOf } from '@wagate/shared/shard'
import type { JobsOptions, Queue } from 'bullmq'
import { openCommandQueue } from './command-queue.ts'
import { connectForRequests, firstAttempt, type OnRedisError } from './redis.ts'

export type CommandProducer = Running & {
  /** Rejects at once when Redis is away and within 2 s when it is frozen. */
  add(commands: Command[]): Promise<void>
}

type Options = { shards: number; onError: OnRedisError }

/** One connection, and a queue object for each shard that was ever written to. */
export function openCommandProducer(redisUrl: string, { shards, onError }: Options): CommandProducer {
  const redis = connectForRequests(redisUrl, onError)
  const connected = firstAttempt(redis)
  const queues = new Map<number, Queue>()

  function queueOf(shard: number): Queue {
    const known = queues.get(shard)
    if (known) return known
    const queue = openCommandQueue(redis, shard, onError)
    queues.set(shard, queue)
    return queue
  }

  return {
    async add(commands) {
      await connected
      const distinct = new Map(commands.map((command) => [deduplicationId(command), command]))
      await Promise.all(
        [...distinct.values()].map((command) =>
          queueOf(shardOf(command.deviceId, shards)).add(
            command.kind,
            commandSchema.parse(command),
            jobOptions(command),
          ),
        ),
      )
    },
    async close() {
      redis.disconnect()
    },
  }
}

/**
 * A waiting command of the same kind for the same device already says it all. `keepLastIfActive` because one
 * that is being handled does not: what came after its look at the database needs another look.
 */
function jobOptions(command: Command): JobsOptions {
  return {
    deduplication: { id: deduplicationId(command), keepLastIfActive: true },
    attempts: 1,
    removeOnComplete: true,
    removeOnFail: true,
  }
}

/** The same for commands of which the last alone says it all. */
export function deduplicationId(command: Command): string {
  const subject = command.kind === 'check-number' ? `-${command.number}` : ''
  return `${command.deviceId}-${command.kind}${subject}`
}
