import type { Database } from '@wagate/db/client'
import { findMessagesProgress, type MessageProgress } from '@wagate/db/queries/message-progress'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'

/** What requests that wait for the outcome of a message share. */
export type OutcomeWaits = {
  /** The function that ends the wait; undefined when too many wait already, of this account or altogether. */
  begin(accountId: number): (() => void) | undefined
  /** Requests that ask at the same moment share one statement. */
  findProgress(accountId: number, messageId: string): Promise<MessageProgress | undefined>
}

const waitsMax = { process: 2000, account: 200 }
const messagesMax = 500

export function makeOutcomeWaits(db: Database): OutcomeWaits {
  const places = makeFairSemaphore(waitsMax.process, { shareMax: waitsMax.account })
  const batch = makeNaturalBatch(
    (wanted: { accountId: number; messageId: string }[]) => findMessagesProgress(db, wanted),
    {
      itemsMax: messagesMax,
    },
  )
  return {
    begin: (accountId) => places.tryAcquire(String(accountId), 1),
    findProgress: (accountId, messageId) => batch.add({ accountId, messageId }),
  }
}
