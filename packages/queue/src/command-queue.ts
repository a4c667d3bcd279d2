import { createHash } from 'node:crypto'
import { type Command, commandSchema } from '@wagate/shared/commands'
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
  const subject = command.kind === 'check-number' ? `-${subjectOf(command)}` : ''
  return `${command.deviceId}-${command.kind}${subject}`
}

function subjectOf({ number, others = [] }: { number: string; others?: string[] | undefined }): string {
  if (others.length === 0) return number
  const hash = createHash('sha256').update(others.join()).digest('base64url')
  return `${number}-${hash}`
}

/** Channels span all databases of a Redis server, queues do not. */
export function announcementChannel(redis: Redis, shard: number): string {
  return `wa:commands:${redis.options.db ?? 0}:${shard}`
}

/** The messages that announce these commands of one shard: the devices that have messages to send, and anything else. */
export function announce(commands: Command[]): string[] {
  const sends = commands.filter(({ kind }) => kind === 'send').map(({ deviceId }) => deviceId)
  const messages = sends.length > 0 ? [sends.join(' ')] : []
  return sends.length < commands.length ? [...messages, ''] : messages
}

/** The devices that have messages to send. Without any, other commands wait. Throws when something else was published. */
export function readAnnouncement(message: string): { sends: number[] } {
  const deviceIds = message === '' ? [] : message.split(' ').map(Number)
  return { sends: deviceIds.map((deviceId) => commandSchema.parse({ kind: 'send', deviceId }).deviceId) }
}
