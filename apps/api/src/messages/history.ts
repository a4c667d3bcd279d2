import type { Database } from '@wagate/db/client'
import { isPositionExpired } from '@wagate/db/queries/events/event-feed'
import { findPositionAt } from '@wagate/db/queries/events/event-time'
import { listUpdatedMessages, type UpdatedPage } from '@wagate/db/queries/events/updated-messages'
import type { HistoryFilter } from '@wagate/db/queries/messages/history-filter'
import { type HistoryPage, listMessages } from '@wagate/db/queries/messages/history-pages'
import { findHistoryPosition, type HistoryPosition } from '@wagate/db/queries/messages/message-history'
import { type EventPosition, firstPosition } from '@wagate/shared/event-ids'
import { AppError } from '../errors/app-error.ts'
import { makePageTurns } from './page-turns.ts'

export type History = {
  /** Throws `message_not_found` if the account has no message `before` or `after`. */
  list(accountId: number, query: ListQuery, signal: AbortSignal): Promise<HistoryPage>
  /** Throws `cursor_expired` if changes after that may have been deleted. */
  listUpdated(accountId: number, query: UpdatedQuery, signal: AbortSignal): Promise<UpdatedPage>
}

type ListQuery = HistoryFilter & { before?: string | undefined; after?: string | undefined; limit: number }
type UpdatedQuery = HistoryFilter & { updatedAfter: EventPosition | Date; limit: number }

export function makeHistory(db: Database): History {
  const takeTurn = makePageTurns()

  async function getPosition(
    accountId: number,
    id: string | undefined,
  ): Promise<HistoryPosition | undefined> {
    if (id === undefined) return undefined
    const position = await findHistoryPosition(db, accountId, id)
    if (!position) throw new AppError('message_not_found', 'The account has no such message.')
    return position
  }

  async function startOfUpdates(
    accountId: number,
    updatedAfter: EventPosition | Date,
  ): Promise<EventPosition> {
    const isTime = updatedAfter instanceof Date
    const kept = isTime
      ? { ...firstPosition, seconds: Math.max(1, Math.floor(updatedAfter.getTime() / 1000)) }
      : updatedAfter
    if (!(await isPositionExpired(db, kept)))
      return isTime ? findPositionAt(db, accountId, updatedAfter) : kept
    throw new AppError(
      'cursor_expired',
      'Changes after that have been deleted. Read the messages without updated_after, then continue with a later time.',
    )
  }

  return {
    list: (accountId, { before, after, ...query }, signal) =>
      takeTurn(accountId, signal, async () =>
        listMessages(db, accountId, {
          ...query,
          before: await getPosition(accountId, before),
          after: await getPosition(accountId, after),
        }),
      ),
    listUpdated: (accountId, { updatedAfter, ...query }, signal) =>
      takeTurn(accountId, signal, async () =>
        listUpdatedMessages(db, accountId, {
          ...query,
          after: await startOfUpdates(accountId, updatedAfter),
        }),
      ),
  }
}
