import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { lidOf } from '@wagate/shared/contact-key'
import { type NewContactBudget, newContactsAllowed, utcDayOf } from '@wagate/shared/new-contacts'
import { subscriberOf } from '@wagate/shared/phone'
import { LRUCache } from 'lru-cache'
import { makeListeners } from './listeners.ts'

type Addressed = Pick<WaitingMessage, 'id' | 'number' | 'isToContact'>

/**
 * How many new contacts a sender may still write to in the current UTC day. Postgres counts them, with the claims of their
 * first messages. This is the count of the owner, who is the only one that claims. Outlives a connection.
 */
export type ContactBudget = {
  /** Further new contacts wait for the next day. */
  isUsedUp(): boolean
  /** False while the message would have to wait. */
  admits(message: Addressed): boolean
  /**
   * Call right before the claim. `count`: the claim has to count the contact if it is new. `admitted`: it need not. `wait`: no
   * claim now. Waits for claims of other contacts that may need the last of the budget.
   */
  reserve(message: Addressed): Promise<'count' | 'admitted' | 'wait'>
  /** What became of a claim that had to count. */
  conclude(message: Addressed, result: ClaimResult): void
  /** A contact that was stored under its LID is under its number now. */
  move(from: string, to: string): void
  /** Takes effect at once. */
  set(budget: NewContactBudget): void
  /** Calls when the budget is used up, or no longer. Returns the function that ends the subscription. */
  onChange(listener: () => void): () => void
}

/**
 * `claimed`: with the number that counts on this day, or null for a known contact. `unknown`: Postgres did not answer. The
 * message may count, until its next claim tells.
 */
type ClaimResult =
  | { kind: 'claimed'; countedToday: string | null; day: number }
  | { kind: 'unclaimed' | 'unknown' }

/** `dateMs` is the time of Postgres, or a little behind: then a claim says that the next day has begun. */
export function makeContactBudget(
  given: { budget: NewContactBudget; newContacts: string[]; nowMs: number },
  known: CountedContacts,
  dateMs: () => number,
): ContactBudget {
  let { budget } = given
  let day = utcDayOf(given.nowMs)
  /** Who counts today, each subscriber once. */
  const counted = new Set(given.newContacts.map(subscriberOf))
  /** The ids of messages that are being claimed. */
  const reserved = new Set<string>()
  /** The ids of messages whose claims had no answer. */
  const uncertain = new Set<string>()
  const waiting = new Set<() => void>()
  const { call: tell, onChange } = makeListeners()

  function startNewDay(today: number): void {
    if (today <= day) return
    day = today
    counted.clear()
    uncertain.clear()
  }

  /** What is left of the budget, less these messages. */
  function roomBeside(...messages: Set<string>[]): number {
    startNewDay(utcDayOf(dateMs()))
    const taken = messages.reduce((sum, { size }) => sum + size, counted.size)
    return newContactsAllowed(budget, day) - taken
  }

  const isUsedUp = () => roomBeside() <= 0
  /** It need not be counted. */
  const isSettled = ({ number, isToContact }: Addressed) =>
    budget.perDay === 0 || isToContact || counted.has(subscriberOf(number)) || known.has(number)

  /** Calls what waits for the last of the budget, and those who follow whether it is used up. */
  function change(work: () => void): void {
    const wasUsedUp = isUsedUp()
    work()
    for (const resolve of waiting) resolve()
    waiting.clear()
    if (isUsedUp() !== wasUsedUp) tell()
  }

  return {
    isUsedUp,
    admits: (message) => isSettled(message) || uncertain.has(message.id) || roomBeside(uncertain) > 0,
    async reserve(message) {
      for (;;) {
        if (isSettled(message)) return 'admitted'
        if (uncertain.has(message.id) || roomBeside(uncertain, reserved) > 0) break
        if (roomBeside(uncertain) <= 0) return 'wait'
        await new Promise<void>((resolve) => waiting.add(resolve))
      }
      uncertain.delete(message.id)
      reserved.add(message.id)
      return 'count'
    },
    conclude({ id, number }, result) {
      change(() => {
        reserved.delete(id)
        if (result.kind === 'unknown') uncertain.add(id)
        if (result.kind !== 'claimed') return
        startNewDay(result.day)
        known.add(number)
        const { countedToday } = result
        // The number may have been learnt during the claim, and the message has it.
        if (countedToday !== null)
          counted.add(subscriberOf(lidOf(countedToday) === null ? countedToday : number))
      })
    },
    move(from, to) {
      change(() => {
        if (known.has(from)) known.add(to)
        if (counted.delete(subscriberOf(from))) counted.add(subscriberOf(to))
      })
    },
    set(next) {
      change(() => {
        budget = next
      })
    },
    onChange,
  }
}

/** Numbers whose messages need not be counted: known contacts, and new ones that have counted. */
export type CountedContacts = { has(number: string): boolean; add(number: string): void }

const dayMs = 86_400_000

/** One bounded cache for all devices of the process. What it has forgotten is found out with the next claim. */
export function makeCountedContactsCache(): (deviceId: number) => CountedContacts {
  const known = new LRUCache<string, true>({
    // A `max` would reserve the memory of all of them now.
    maxSize: 200_000,
    sizeCalculation: () => 1,
    ttl: dayMs,
  })
  return (deviceId) => ({
    has: (number) => known.has(`${deviceId} ${subscriberOf(number)}`),
    add: (number) => void known.set(`${deviceId} ${subscriberOf(number)}`, true),
  })
}
