import { formatEventId, parseEventId } from '@wagate/shared/event-ids'
import type { EventFeed } from '../events/event-feed.ts'
import { untilReadableMs } from '../events/event-wakes.ts'
import { pollUntil } from '../events/poll-until.ts'
import type { MediaLinks } from '../received-media/media-links.ts'
import { toFrame } from './event-frame.ts'
import type { EventListener } from './event-listener.ts'

export type LiveReader = { add(listener: EventListener): void }

type Options = {
  feed: EventFeed
  getLinker: MediaLinks['getLinker']
  onError(error: unknown): void
  onIdle(): void
}

const pageMax = 100

/** Reads the events of an account once for all listeners that have reached the present. Ends with the last listener. */
export function startLiveReader(
  accountId: number,
  { feed, getLinker, onError, onIdle }: Options,
): LiveReader {
  const listeners = new Set<EventListener>()
  const idle = new AbortController()
  const { inbox, leave } = feed.wakes.join(accountId)

  /** From the listener that is behind most. The others drop what they have had. */
  async function readNew(): Promise<void> {
    let hasMore = true
    while (hasMore && !idle.signal.aborted) {
      const lowest = [...listeners].map(({ cursor }) => cursor).sort()[0] ?? ''
      const after = parseEventId(lowest)
      if (!after) return
      const page = await feed.read(accountId, { after, limit: pageMax }, idle.signal)
      const linkTo = await getLinker()
      const frames = page.events.map((event) => toFrame(event, linkTo))
      const next = formatEventId(page.next)
      for (const listener of listeners) {
        // One that was added during the read, and is further behind, gets what it misses from the next one.
        if (listener.cursor >= lowest && listener.cursor < next) listener.take(frames, next)
      }
      hasMore = page.hasMore
    }
  }

  async function readOn(): Promise<void> {
    const read = async () => {
      await readNew().catch((error: unknown) => idle.signal.aborted || onError(error))
      return undefined
    }
    const forMs = Number.POSITIVE_INFINITY
    await pollUntil(read, { inbox, forMs, abort: idle.signal, againAfterMs: untilReadableMs })
  }

  void readOn()
  return {
    add(listener) {
      listeners.add(listener)
      listener.over.addEventListener('abort', () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        idle.abort()
        leave()
        onIdle()
      })
      // Something may have happened since its last read.
      inbox.put(true)
    },
  }
}
