import type { Running } from '@wagate/runtime/running'
import { type Leave, openChannels } from './channels.ts'
import { connectForRequests, firstAttempt, type OnRedisError } from './redis.ts'

/** Notifies every API process that a key was revoked, or that the role or expiry of an account changed. */
export type AccountEvents = Running & {
  /** Best effort: a process that misses it sees the change when its cache expires. */
  publishChanged(accountId: number): Promise<void>
  /** Never fails. Without Redis, the listener receives events once Redis is back. */
  onChanged(listener: (accountId: number) => void): Leave
}

const channel = 'wa:accounts'

/** Opens two connections: one to publish and one to subscribe. */
export function openAccountEvents(redisUrl: string, { onError }: { onError: OnRedisError }): AccountEvents {
  const redis = connectForRequests(redisUrl, onError)
  const connected = firstAttempt(redis)
  const channels = openChannels(redisUrl, onError)

  return {
    async publishChanged(accountId) {
      await connected
      await redis.publish(channel, String(accountId)).catch(onError)
    },
    onChanged: (listener) => channels.join(channel, (message) => listener(Number(message))),
    async close() {
      redis.disconnect()
      await channels.close()
    },
  }
}
