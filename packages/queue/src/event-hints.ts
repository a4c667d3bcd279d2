import type { Running } from '@wagate/runtime/running'
import { type Leave, openChannels } from './channels.ts'
import { connectForRequests, firstAttempt, type OnRedisError } from './redis.ts'

/** Wakes readers of the stream of events, in all processes. */
export type EventHints = Running & {
  /** To be called once events of the account are stored. Best effort and in the background: readers poll, too. */
  publish(accountId: number): void
  /** Never fails. Without Redis, the listener receives hints once Redis is back. */
  onEvents(listener: (accountId: number) => void): Leave
}

const channel = 'wa:events'
/** A process publishes once in this time, whatever the number of events and accounts. */
const coalesceMs = 50

/** Opens two connections: one to publish and one to subscribe. */
export function openEventHints(redisUrl: string, { onError }: { onError: OnRedisError }): EventHints {
  const redis = connectForRequests(redisUrl, onError)
  const connected = firstAttempt(redis)
  const channels = openChannels(redisUrl, onError)
  let waiting = new Set<number>()
  let window: NodeJS.Timeout | undefined

  function openWindow(): void {
    window = setTimeout(() => {
      window = undefined
      if (waiting.size > 0) openWindow()
    }, coalesceMs)
    window.unref()
    // The accounts of one turn of the event loop go together.
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    const accountIds = [...waiting].join(' ')
    waiting = new Set()
    await connected
    await redis.publish(channel, accountIds).catch(onError)
  }

  return {
    publish(accountId) {
      waiting.add(accountId)
      if (!window) openWindow()
    },
    onEvents: (listener) =>
      channels.join(channel, (message) => {
        for (const accountId of message.split(' ')) listener(Number(accountId))
      }),
    async close() {
      clearTimeout(window)
      redis.disconnect()
      await channels.close()
    },
  }
}
