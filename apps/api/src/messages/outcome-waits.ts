import type { Database } from '@wagate/db/client'
import { findMessagesProgress, type MessageProgress } from '@wagate/db/queries/message-progress'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'

/** Shared by all requests that wait for the outcome of a message. */
export type OutcomeWaits = {
  /** Returns the function that ends the wait; undefined when the account or the process has too many waits. */
  begin(accountId: number): (() => void) | undefined
  /** Concurrent requests share one statement. */
  findProgress(accountId: number, messageId: string): Promise<MessageProgress | undefined>
}

const waitsMax = { process: 2000, account: 200 }
const messagesMax = 500

type MessageOfAccount = { accountId: number; messageId: string }

export function makeOutcomeWaits(db: Database): OutcomeWaits {
  const slots = makeFairSemaphore(waitsMax.process, { shareMax: waitsMax.account })
  const batch = makeNaturalBatch((messages: MessageOfAccount[]) => findMessagesProgress(db, messages), {
    itemsMax: messagesMax,
  })
  return {
    begin: (accountId) => slots.tryAcquire(String(accountId), 1),
    findProgress: (accountId, messageId) => batch.add({ accountId, messageId }),
  }
}
