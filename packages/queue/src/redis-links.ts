import type { Running } from '@wagate/runtime/running'
import type { Redis } from 'ioredis'
import { type Channels, openChannels } from './channels.ts'
import { connectForRequests, firstAttempt, type OnRedisError } from './redis.ts'

/** The two connections that most of a process shares. A command that waits, or blocks the connection, needs another. */
export type RedisLinks = Running & {
  readonly requests: Redis
  /** The first attempt to connect for requests has succeeded or failed. */
  readonly connected: Promise<void>
  readonly channels: Channels
  readonly onError: OnRedisError
}

export function openRedisLinks(redisUrl: string, { onError }: { onError: OnRedisError }): RedisLinks {
  const requests = connectForRequests(redisUrl, onError)
  const channels = openChannels(redisUrl, onError)
  return {
    requests,
    connected: firstAttempt(requests),
    channels,
    onError,
    async close() {
      requests.disconnect()
      await channels.close()
    },
  }
}
