import type { Database } from '@wagate/db/client'
import {
  findLastWaiting,
  listNextMessages,
  listWaitingMessages,
  type NextRead,
  nextMessagesMax,
  type WaitingMessage,
  type WaitingQuery,
} from '@wagate/db/queries/messages/waiting-messages'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { lidOf, numberOf } from '@wagate/shared/contact-key'
import { normalPriority } from '@wagate/shared/priorities'
import type { WASocket } from '../session/connection/socket.ts'
import type { DeviceContacts } from '../session/contacts/device-contacts.ts'
import { userOf } from '../session/contacts/jids.ts'
import { findPhoneJid } from '../session/receiving/receipts.ts'
import type { ContactBudget } from './contact-budget.ts'
import type { FirstContacts } from './first-contacts.ts'
import { makeListeners } from './listeners.ts'
import type { WaitingQueue } from './waiting-list.ts'

type QueueDevice = {
  id: number
  pace: { contactBudget: Pick<ContactBudget, 'isUsedUp'>; priorityUse: Pick<PriorityUse, 'isKnown'> }
  firstContacts: Pick<FirstContacts, 'areActive'>
}

/** Whether a device has ever had messages with another priority than `normal`. Most never have, and need not be asked for them. */
export type PriorityUse = {
  isKnown(): boolean
  /** Such messages may wait from now on. */
  note(): void
  onChange(listener: () => void): () => void
}

export function makePriorityUse(): PriorityUse {
  const { call: tell, onChange } = makeListeners()
  let isKnown = false
  return {
    isKnown: () => isKnown,
    note() {
      if (isKnown) return
      isKnown = true
      tell()
    },
    onChange,
  }
}

/**
 * The waiting messages of a device in Postgres that have this priority. While new contacts are paused, messages to them are
 * left out, also when the pause begins during the read.
 */
export function makeWaitingQueue(
  { db, nextReads }: { db: Database; nextReads: NextReads },
  { id, pace: { contactBudget, priorityUse }, firstContacts }: QueueDevice,
  priority: number,
): WaitingQueue {
  const isLeftOut = () => priority !== normalPriority && !priorityUse.isKnown()
  const pausesNow = () => ({ isRestricted: firstContacts.areActive(), isUsedUp: contactBudget.isUsedUp() })
  type Pauses = ReturnType<typeof pausesNow>
  const areActive = ({ isRestricted, isUsedUp }: Pauses) => isRestricted || isUsedUp

  function readUnder(pauses: Pauses, query: WaitingQuery): Promise<WaitingMessage[]> {
    const without = pauses.isRestricted ? [...query.without, 'newContacts' as const] : query.without
    const isPaused = areActive(pauses)
    if (isNext(query) && !isPaused) return nextReads.read({ deviceId: id, priority, except: query.except })
    // Anyone may have become a contact, whose earlier messages were left out.
    const after = isPaused ? undefined : query.after
    return listWaitingMessages(db, id, { ...query, priority, without, withinBudget: pauses.isUsedUp, after })
  }

  return {
    async read(query) {
      if (isLeftOut()) return []
      for (;;) {
        const before = pausesNow()
        const found = await readUnder(before, query)
        const now = pausesNow()
        const hasPauseBegun = (now.isRestricted && !before.isRestricted) || (now.isUsedUp && !before.isUsedUp)
        // What was found may be for new contacts.
        if (!hasPauseBegun) return found
      }
    },
    findLast: async () =>
      isLeftOut() || areActive(pausesNow()) ? undefined : findLastWaiting(db, id, priority),
  }
}

function isNext({ exceptNumbers, without, limit }: WaitingQuery): boolean {
  return limit === nextMessagesMax && exceptNumbers.length === 0 && without.length === 0
}

type Numbers = {
  /** Of a LID, as far as the device knows it. */
  find(lidJid: string): Promise<string | undefined>
  /** A message to this LID was read that has this number, perhaps because another device of the account has learnt it. */
  onKnown(lidJid: string, number: string): void
}

const isByLid = ({ number, recipientJid }: WaitingMessage) =>
  lidOf(number) !== null || lidOf(recipientJid) !== null

/** With the numbers of messages that are stored under LIDs. All messages to one LID that are read have the same. */
export function withKnownNumbers(queue: WaitingQueue, { find, onKnown }: Numbers): WaitingQueue {
  async function complete(message: WaitingMessage): Promise<WaitingMessage> {
    if (lidOf(message.number) === null) return message
    return { ...message, number: (await find(message.number)) ?? message.number }
  }

  return {
    ...queue,
    async read(query) {
      const read = await queue.read(query)
      if (!read.some(isByLid)) return read
      const found = await Promise.all(read.map(complete))
      /** By LID. The latest message has the latest number. */
      const known = new Map<string, string>()
      for (const { recipientJid, number } of found) {
        if (recipientJid && lidOf(recipientJid) !== null && numberOf(number) !== null)
          known.set(recipientJid, number)
      }
      for (const message of found) message.number = known.get(message.recipientJid ?? '') ?? message.number
      for (const [lidJid, number] of known) onKnown(lidJid, number)
      return found
    },
  }
}

/**
 * The device may know a number that the account does not: from before the account kept contacts, or because it was learnt
 * while the messages were read.
 */
export async function findNumber(
  { contacts }: { contacts: Pick<DeviceContacts, 'note'> },
  sock: WASocket,
  lidJid: string,
): Promise<string | undefined> {
  const jid = await findPhoneJid(sock, lidJid)
  if (!jid) return undefined
  const number = userOf(jid)
  await contacts.note({ lidJid, number })
  return number
}

/** Reads the next messages of devices, those of several devices in one statement. */
export type NextReads = { read(wanted: NextRead): Promise<WaitingMessage[]> }

const devicesMax = 100

export function makeNextReads(db: Database): NextReads {
  const batch = makeNaturalBatch((reads: NextRead[]) => listNextMessages(db, reads), { itemsMax: devicesMax })
  return {
    async read(wanted) {
      try {
        return await batch.add(wanted)
      } catch {
        // A device whose read takes too long must not keep the others from theirs.
        const [alone = []] = await listNextMessages(db, [wanted])
        return alone
      }
    },
  }
}
