import type { Command } from '@wagate/shared/commands'
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'

/** The queue of a shard. Its name and prefix must not change: several versions share it during a rolling upgrade. */
export function commandQueue(shard: number | '%d'): { name: string; prefix: string } {
  return { name: `commands-${shard}`, prefix: `{wa:${shard}}` }
}

/** With the three skip options, BullMQ sends no further commands and never waits for a connection. */
export function openCommandQueue(redis: Redis, shard: number): Queue {
  const { name, prefix } = commandQueue(shard)
  const queue = new Queue(name, {
    connection: redis,
    prefix,
    skipMetasUpdate: true,
    skipVersionCheck: true,
    skipWaitingForReady: true,
  })
  // The connection reports its errors.
  return queue.on('error', () => undefined)
}

/** The same for commands of which only the last one matters. */
export function deduplicationId(command: Command): string {
  const subject = command.kind === 'check-number' ? `-${command.number}` : ''
  return `${command.deviceId}-${command.kind}${subject}`
}
