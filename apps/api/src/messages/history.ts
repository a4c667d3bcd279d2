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
  /** Throws `message_not_found` if the account has no message `before`. */
  list(accountId: number, query: HistoryQuery, signal: AbortSignal): Promise<HistoryPage>
}

type HistoryQuery = HistoryFilter & { before?: string | undefined; limit: number }

/** Fewer than the read connections, to leave some for cheaper reads. */
const readsMax = 6
/** Besides the page that is being read. */
const waitingOfAccountMax = 20
/** After a page, its account pauses for the time that the page took times this factor. */
const restFactor = 3
/** A slower read has mostly waited for Postgres, which costs this process nothing. */
const restMsMax = 100

/**
 * Reads one page at a time for each account, with a pause after it: a page of 200 long texts costs this process as much
 * as dozens of sends, so other accounts' requests go in between.
 */
export function makeHistory(db: Database): History {
  const turns = makeFairSemaphore(readsMax, { shareMax: 1 })
  /** Acquired before `turns`, so that an account that pauses takes no turn from others. */
  const accounts = makeFairSemaphore(Number.POSITIVE_INFINITY, { shareMax: 1 })
  /** In progress or waiting, by account. */
  const pages = new Map<number, number>()

  function count(accountId: number, by: number): number {
    const now = (pages.get(accountId) ?? 0) + by
    if (now === 0) pages.delete(accountId)
    else pages.set(accountId, now)
    return now
  }

  async function read(
    accountId: number,
    { before, ...query }: HistoryQuery,
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
        throw new AppError('rate_limited', 'Too many concurrent requests for pages of messages. Try again.', {
          retryAfterSeconds: 1,
        })
      }
      try {
        const release = await accounts.acquire(String(accountId), 1, signal)
        const startedAt = performance.now()
        return await read(accountId, query, signal).finally(() =>
          // setImmediate, so that the time includes writing the response.
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
