import { type Command, commandSchema } from '@wagate/shared/commands'
import { shardOf } from '@wagate/shared/shard'
import { Job, type JobsOptions, QueueKeys } from 'bullmq'
import {
  announce,
  announcementChannel,
  commandQueue,
  deduplicationId,
  openCommandQueue,
} from './command-queue.ts'
import type { RedisLinks } from './redis-links.ts'

export type CommandProducer = {
  /** Rejects at once without Redis, and within 2 s when Redis does not answer. */
  add(commands: Command[]): Promise<void>
}

/** Adds commands to the queues of their shards and announces them, all in one round trip. */
export function makeCommandProducer(
  { requests, connected }: RedisLinks,
  { shards }: { shards: number },
): CommandProducer {
  // Of any shard: BullMQ's script gets the keys of the queue that it adds to.
  const queue = openCommandQueue(requests, 0)
  const keysOf = (shard: number) => {
    const { name, prefix } = commandQueue(shard)
    return new QueueKeys(prefix).getKeys(name)
  }

  return {
    async add(commands) {
      await connected
      const backend = queue.getBackend()
      const pipeline = (await backend.client).pipeline()
      for (const [shard, ofShard] of byShard(commands, shards)) {
        const keys = keysOf(shard)
        for (const command of ofShard) {
          const job = new Job(queue, command.kind, jobDataOf(command), jobOptions(command))
          void backend.addJobToTransaction(pipeline, job.asJSON(), '', {}, keys)
        }
        // After the jobs, so that a worker that hears it finds them.
        for (const message of announce(ofShard))
          pipeline.runCommand('publish', [announcementChannel(requests, shard), message])
      }
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
    },
  }
}

function byShard(commands: Command[], shards: number): Map<number, Command[]> {
  const distinct = new Map(commands.map((command) => [deduplicationId(command), command]))
  const ofShards = new Map<number, Command[]>()
  for (const command of distinct.values()) {
    const shard = shardOf(command.deviceId, shards)
    ofShards.set(shard, [...(ofShards.get(shard) ?? []), command])
  }
  return ofShards
}

function jobDataOf(command: Command): Command {
  return commandSchema.parse(command.kind === 'send' ? { ...command, announced: true } : command)
}

/**
 * A waiting command makes later ones of its kind for the same device redundant. A command that is being handled does not,
 * because its handler may have read the database before the later change: hence `keepLastIfActive`.
 */
function jobOptions(command: Command): JobsOptions {
  // An announced command must not swallow one of an earlier version, which only its job tells.
  const suffix = command.kind === 'send' ? '-announced' : ''
  return {
    deduplication: { id: `${deduplicationId(command)}${suffix}`, keepLastIfActive: true },
    attempts: 1,
    removeOnComplete: true,
    removeOnFail: true,
  }
}
