import type { Running } from '@wagate/runtime/running'
import type { Leave } from './channels.ts'
import type { RedisLinks } from './redis-links.ts'

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

export function makeEventHints({ requests, connected, channels, onError }: RedisLinks): EventHints {
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
    await requests.publish(channel, accountIds).catch(onError)
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
    },
  }
}
