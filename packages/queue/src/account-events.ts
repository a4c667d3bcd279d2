import type { Leave } from './channels.ts'
import type { RedisLinks } from './redis-links.ts'

/** Notifies every API process that a key was revoked, or that the role or expiry of an account changed. */
export type AccountEvents = {
  /** Best effort: a process that misses it sees the change when its cache expires. */
  publishChanged(accountId: number): Promise<void>
  /** Never fails. Without Redis, the listener receives events once Redis is back. */
  onChanged(listener: (accountId: number) => void): Leave
}

const channel = 'wa:accounts'

export function makeAccountEvents({ requests, connected, channels, onError }: RedisLinks): AccountEvents {
  return {
    async publishChanged(accountId) {
      await connected
      await requests.publish(channel, String(accountId)).catch(onError)
    },
    onChanged: (listener) => channels.join(channel, (message) => listener(Number(message))),
  }
}
