import { nextMessagesMax } from '@wagate/db/queries/next-messages'
import {
  findLastWaiting,
  listWaitingMessages,
  type WaitingMessage,
  type WaitingQuery,
} from '@wagate/db/queries/waiting-messages'
import type { DeviceContext } from '../context.ts'
import type { OutboxDevice } from './outbox-device.ts'
import type { WaitingQueue } from './waiting-list.ts'

/**
 * The waiting messages of a device in Postgres. While new contacts are paused, messages to them are left out, also when the
 * pause begins during the read.
 */
export function makeWaitingQueue(
  { db, nextReads }: Pick<DeviceContext, 'db' | 'nextReads'>,
  { id, contactBudget, firstContacts }: Pick<OutboxDevice, 'id' | 'contactBudget' | 'firstContacts'>,
): WaitingQueue {
  const areContactsPaused = () => firstContacts.areActive() || contactBudget.isUsedUp()

  function readOnce(query: WaitingQuery): Promise<WaitingMessage[]> {
    const without = firstContacts.areActive() ? [...query.without, 'newContacts' as const] : query.without
    const withinBudget = contactBudget.isUsedUp()
    const isPaused = areContactsPaused()
    if (isNext(query) && !isPaused) return nextReads.read({ deviceId: id, except: query.except })
    // Anyone may have become a contact, whose earlier messages were left out.
    const after = isPaused ? undefined : query.after
    return listWaitingMessages(db, id, { ...query, without, withinBudget, after })
  }

  return {
    async read(query) {
      for (;;) {
        const [wereRestricted, wasUsedUp] = [firstContacts.areActive(), contactBudget.isUsedUp()]
        const found = await readOnce(query)
        const isPausedSince =
          (firstContacts.areActive() && !wereRestricted) || (contactBudget.isUsedUp() && !wasUsedUp)
        // What was found may be for new contacts.
        if (!isPausedSince) return found
      }
    },
    findLast: async () => (areContactsPaused() ? undefined : findLastWaiting(db, id)),
  }
}

function isNext({ exceptNumbers, without, limit }: WaitingQuery): boolean {
  return limit === nextMessagesMax && exceptNumbers.length === 0 && without.length === 0
}
