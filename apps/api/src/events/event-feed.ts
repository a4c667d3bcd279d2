import type { Database } from '@wagate/db/client'
import {
  type EventFilter,
  type EventPage,
  findLatestPosition,
  isPositionExpired,
  listEvents,
} from '@wagate/db/queries/events/event-feed'
import type { EventHints } from '@wagate/queue/event-hints'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { type EventPosition, firstPosition } from '@wagate/shared/event-ids'
import { AppError } from '../errors/app-error.ts'
import { type EventWakes, makeEventWakes } from './event-wakes.ts'

export type EventFeed = {
  /** `latest` is after all events that can be read now, undefined before the oldest that is kept. Throws `cursor_expired`. */
  start(after: EventPosition | 'latest' | undefined): Promise<EventPosition>
  read(accountId: number, query: FeedQuery, signal: AbortSignal): Promise<EventPage>
  /** Returns the function that ends a wait; undefined when the account or the process has too many waits. */
  beginWait(accountId: number): (() => void) | undefined
  /** Of all accounts. */
  countWaits(): number
  wakes: EventWakes
}

type FeedQuery = EventFilter & { after: EventPosition; limit: number }

/** Fewer than the read connections, to leave some for cheaper reads. */
const reads = { process: 6, account: 1 }
const waits = { process: 2000, account: 50 }

export function makeEventFeed(db: Database, hints: Pick<EventHints, 'onEvents'>): EventFeed {
  const turns = makeFairSemaphore(reads.process, { shareMax: reads.account })
  const slots = makeFairSemaphore(waits.process, { shareMax: waits.account })
  const waiting = new Set<() => void>()

  return {
    async start(after) {
      if (after === undefined) return firstPosition
      if (after === 'latest') return findLatestPosition(db)
      if (!(await isPositionExpired(db, after))) return after
      throw new AppError(
        'cursor_expired',
        'Events that follow this one have been deleted. Omit after to continue with the oldest event that is kept.',
      )
    },
    async read(accountId, query, signal) {
      const release = await turns.acquire(String(accountId), 1, signal)
      try {
        return await listEvents(db, accountId, query)
      } finally {
        release()
      }
    },
    beginWait(accountId) {
      const release = slots.tryAcquire(String(accountId), 1)
      if (!release) return undefined
      waiting.add(release)
      return () => {
        waiting.delete(release)
        release()
      }
    },
    countWaits: () => waiting.size,
    wakes: makeEventWakes(hints),
  }
}
