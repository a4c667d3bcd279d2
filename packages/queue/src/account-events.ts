import type { Running } from '@wagate/runtime/running'
import { type Leave, openChannels } from './channels.ts'
import { connectForRequests, firstAttempt, type OnRedisError } from './redis.ts'

/** Tells every API process that a key was revoked, or that role or expiry of an account changed. */
export type AccountEvents = Running & {
  /** Best effort: whoever does not hear it knows it when its cache has expired. */
  publishChanged(accountId: number): Promise<void>
  /** Never fails: without Redis it hears what comes once Redis is back. */
  onChanged(listener: (accountId: number) => void): Leave
}

const channel = 'wa:accounts'

/** Two connections: one that publishes, one that listens. */
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
