import type { Database } from '@wagate/db/client'
import {
  findHistoryPosition,
  type HistoryFilter,
  type HistoryPage,
  listMessages,
} from '@wagate/db/queries/message-history'
import { AppError } from '@wagate/shared/app-error'
import { makeFairSemaphore } from '@wagate/shared/fair-semaphore'

export type History = {
  /** Throws `message_not_found` for a `before` that the account does not have. */
  list(
    accountId: number,
    query: HistoryFilter & { before?: string | undefined; limit: number },
    signal: AbortSignal,
  ): Promise<HistoryPage>
}

/** Of the connections for reading; the others are for what costs less. */
const readsMax = 6
const readsOfAccountMax = 2
const waitingOfAccountMax = 20

/** Reads the history. An account has two reads under way at a time, so that none of them keeps the others waiting. */
export function makeHistory(db: Database): History {
  const turns = makeFairSemaphore(readsMax, { shareMax: readsOfAccountMax })
  /** Running or waiting, by account. */
  const reads = new Map<number, number>()

  function count(accountId: number, by: number): number {
    const now = (reads.get(accountId) ?? 0) + by
    if (now === 0) reads.delete(accountId)
    else reads.set(accountId, now)
    return now
  }

  return {
    async list(accountId, { before, ...query }, signal) {
      if (count(accountId, 1) > readsOfAccountMax + waitingOfAccountMax) {
        count(accountId, -1)
        throw new AppError('rate_limited', 'Too many pages of messages are asked for at once. Try again.', {
          retryAfterSeconds: 1,
        })
      }
      try {
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
      } finally {
        count(accountId, -1)
      }
    },
  }
}
