import type { Running } from '@wagate/runtime/running'
import { type Command, commandSchema } from '@wagate/shared/commands'
import { shardOf } from '@wagate/shared/shard'
import type { JobsOptions, Queue } from 'bullmq'
import { openCommandQueue } from './command-queue.ts'
import { connectForRequests, firstAttempt, type OnRedisError } from './redis.ts'

export type CommandProducer = Running & {
  /** Rejects at once without Redis, and within 2 s when Redis does not answer. */
  add(commands: Command[]): Promise<void>
}

type Options = { shards: number; onError: OnRedisError }

/** Opens one connection, and one queue object for each shard when it is first used. */
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
 * A waiting command makes later ones of its kind for the same device redundant. A command that is being handled does not,
 * because its handler may have read the database before the later change: hence `keepLastIfActive`.
 */
function jobOptions(command: Command): JobsOptions {
  return {
    deduplication: { id: deduplicationId(command), keepLastIfActive: true },
    attempts: 1,
    removeOnComplete: true,
    removeOnFail: true,
  }
}

/** The same for commands of which only the last one matters. */
export function deduplicationId(command: Command): string {
  const subject = command.kind === 'check-number' ? `-${command.number}` : ''
  return `${command.deviceId}-${command.kind}${subject}`
}
