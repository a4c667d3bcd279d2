import type { Database } from '@wagate/db/client'
import {
  type EventFilter,
  findLatestPosition,
  isPositionExpired,
  listEvents,
  type StoredEvent,
} from '@wagate/db/queries/event-feed'
import { findMessages, type HistoryMessage } from '@wagate/db/queries/message-history'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { type EventPosition, firstPosition } from '@wagate/shared/event-ids'
import { AppError } from '../errors/app-error.ts'

/** `message` as it is now. Undefined for an event of no message, and of one that retention has removed. */
export type FeedEvent = StoredEvent & { message: HistoryMessage | undefined }

export type FeedPage = { events: FeedEvent[]; next: EventPosition; hasMore: boolean }

export type EventFeed = {
  /** `latest` is after all events that can be read now, undefined before the oldest that is kept. Throws `cursor_expired`. */
  start(after: EventPosition | 'latest' | undefined): Promise<EventPosition>
  read(accountId: number, query: FeedQuery, signal: AbortSignal): Promise<FeedPage>
  /** Returns the function that ends a wait; undefined when the account or the process has too many waits. */
  beginWait(accountId: number): (() => void) | undefined
}

type FeedQuery = EventFilter & { after: EventPosition; limit: number }

/** Fewer than the read connections, to leave some for cheaper reads. */
const reads = { process: 6, account: 1 }
const waits = { process: 2000, account: 50 }

export function makeEventFeed(db: Database): EventFeed {
  const turns = makeFairSemaphore(reads.process, { shareMax: reads.account })
  const slots = makeFairSemaphore(waits.process, { shareMax: waits.account })

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
        const { events, ...page } = await listEvents(db, accountId, query)
        const ids = events.flatMap(({ messageId }) => messageId ?? [])
        const messages = await findMessages(db, accountId, [...new Set(ids)])
        return {
          ...page,
          events: events.map((event) => ({ ...event, message: messages.get(event.messageId ?? '') })),
        }
      } finally {
        release()
      }
    },
    beginWait: (accountId) => slots.tryAcquire(String(accountId), 1),
  }
}
