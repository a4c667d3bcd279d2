import { nextMessagesMax } from '@wagate/db/queries/messages/next-messages'
import {
  findLastWaiting,
  listWaitingMessages,
  type WaitingMessage,
  type WaitingQuery,
} from '@wagate/db/queries/messages/waiting-messages'
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
  const pausesNow = () => ({ isRestricted: firstContacts.areActive(), isUsedUp: contactBudget.isUsedUp() })
  type Pauses = ReturnType<typeof pausesNow>
  const areActive = ({ isRestricted, isUsedUp }: Pauses) => isRestricted || isUsedUp

  function readUnder(pauses: Pauses, query: WaitingQuery): Promise<WaitingMessage[]> {
    const without = pauses.isRestricted ? [...query.without, 'newContacts' as const] : query.without
    const isPaused = areActive(pauses)
    if (isNext(query) && !isPaused) return nextReads.read({ deviceId: id, except: query.except })
    // Anyone may have become a contact, whose earlier messages were left out.
    const after = isPaused ? undefined : query.after
    return listWaitingMessages(db, id, { ...query, without, withinBudget: pauses.isUsedUp, after })
  }

  return {
    async read(query) {
      for (;;) {
        const before = pausesNow()
        const found = await readUnder(before, query)
        const now = pausesNow()
        const hasPauseBegun = (now.isRestricted && !before.isRestricted) || (now.isUsedUp && !before.isUsedUp)
        // What was found may be for new contacts.
        if (!hasPauseBegun) return found
      }
    },
    findLast: async () => (areActive(pausesNow()) ? undefined : findLastWaiting(db, id)),
  }
}

function isNext({ exceptNumbers, without, limit }: WaitingQuery): boolean {
  return limit === nextMessagesMax && exceptNumbers.length === 0 && without.length === 0
}
