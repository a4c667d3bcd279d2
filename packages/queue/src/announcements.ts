import { type Command, commandSchema } from '@wagate/shared/commands'
import type { Redis } from 'ioredis'

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
