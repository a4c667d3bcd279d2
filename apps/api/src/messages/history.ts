import type { Database } from '@wagate/db/client'
import {
  findHistoryPosition,
  type HistoryFilter,
  type HistoryPage,
  listMessages,
} from '@wagate/db/queries/message-history'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { AppError } from '../errors/app-error.ts'

export type History = {
  /** Throws `message_not_found` for a `before` that the account does not have. */
  list(accountId: number, query: Query, signal: AbortSignal): Promise<HistoryPage>
}

type Query = HistoryFilter & { before?: string | undefined; limit: number }

/** Of the connections for reading; the others are for what costs less. */
const readsMax = 6
/** Beside the one that is read. */
const waitingOfAccountMax = 20
/** After a page its account has no other one for this many times the time that the page took. */
const restFactor = 3
/** A read that takes longer has waited for Postgres, which costs this process nothing. */
const restMsMax = 100

/**
 * Reads the history, for each account one page at a time and then none for a while: a page of 200 long texts costs
 * this process what dozens of sends cost, and those of others come in between.
 */
export function makeHistory(db: Database): History {
  const turns = makeFairSemaphore(readsMax, { shareMax: 1 })
  /** Those who rest take no turn from others. */
  const accounts = makeFairSemaphore(Number.POSITIVE_INFINITY, { shareMax: 1 })
  /** Under way or waiting, by account. */
  const pages = new Map<number, number>()

  function count(accountId: number, by: number): number {
    const now = (pages.get(accountId) ?? 0) + by
    if (now === 0) pages.delete(accountId)
    else pages.set(accountId, now)
    return now
  }

  async function read(
    accountId: number,
    { before, ...query }: Query,
    signal: AbortSignal,
  ): Promise<HistoryPage> {
    const release = await turns.acquire(String(accountId), 1, signal)
    try {
      const position = before === undefined ? undefined : await findHistoryPosition(db, accountId, before)
      if (before !== undefined && !position) {
        throw new AppError('message_not_found', 'The account has no such message.')
      }
      return await listMessages(db, accountId, { ...query, before: position })
    } finally {
      release()
    }
  }

  return {
    async list(accountId, query, signal) {
      if (count(accountId, 1) > 1 + waitingOfAccountMax) {
        count(accountId, -1)
        throw new AppError('rate_limited', 'Too many pages of messages are asked for at once. Try again.', {
          retryAfterSeconds: 1,
        })
      }
      try {
        const release = await accounts.acquire(String(accountId), 1, signal)
        const startedAt = performance.now()
        return await read(accountId, query, signal).finally(() =>
          // By then the page has been written to its caller as well.
          setImmediate(() => {
            const restMs = Math.min(restMsMax, restFactor * (performance.now() - startedAt))
            setTimeout(release, restMs).unref()
          }),
        )
      } finally {
        count(accountId, -1)
      }
    },
  }
}
