import {
  type BlockReason,
  nextMessagesMax,
  type WaitingMessage,
  type WaitingQuery,
} from '@wagate/db/queries/messages/waiting-messages'
import { phoneForms } from '@wagate/shared/phone'
import type { Available } from './recipient-lanes.ts'

const readAhead = nextMessagesMax
/** Up to this many messages, all kinds are read. Beyond it, blocked kinds are left in the database. */
const windowMax = 256
const messagesMax = 1024
const readPastMax = 128
/** With this many messages of a blocked kind in the list, no more of that kind are read. */
const blockedMin = 32
/**
 * The pause between two reads past blocked messages. Each may read the keys of all waiting messages of the device, so a
 * slow read is followed by a longer pause, but a message behind the blocked ones must still leave within a second.
 */
const restMs = { least: 100, most: 500, perReadMs: 4 }

export type WaitingQueue = {
  read(query: WaitingQuery): Promise<WaitingMessage[]>
  /** The `seq` of the last one that waits. Undefined: unknown, or `read` leaves out more than it is told to. */
  findLast(): Promise<number | undefined>
}

/**
 * The next messages of a device, in their order, read ahead. A message stays until it is removed. There is a list for each
 * priority, so that however many messages wait, or are blocked, those of other priorities are read as well.
 */
export type WaitingList = {
  /** Returns a copy, so messages may be removed during iteration. */
  list(): WaitingMessage[]
  /**
   * Reads more if there may be more and too few of the messages read so far can leave soon. Returns how many ms to wait
   * before another refill, 0 when there is nothing to wait for.
   */
  refill(availableOf: (messages: WaitingMessage[]) => Available): Promise<number>
  /** There may be new rows. */
  mayHaveMore(): void
  /** It does not wait any more. */
  remove(message: WaitingMessage): void
  /** Removes it. It still waits. */
  requeue(message: WaitingMessage): void
  /** Removes it and does not read it again before the next `mayHaveMore`. */
  skip(message: WaitingMessage): void
}

export function makeWaitingList(
  queue: WaitingQueue,
  nowMs: () => number = () => performance.now(),
): WaitingList {
  let messages: WaitingMessage[] = []
  let isMore = true
  /** The filter of a read that found everything the filter let through. */
  let exhausted: ReadFilter | undefined
  const coverage = makeReadCoverage(nowMs)
  let nextReadAtMs = 0
  const skipped = new Set<string>()

  async function readMore(query: Omit<WaitingQuery, 'except'>): Promise<boolean> {
    const except = [...messages.map(({ id }) => id), ...skipped]
    const found = await queue.read({ ...query, except })
    messages = [...messages, ...found].sort((one, other) => one.seq - other.seq)
    return found.length === query.limit
  }

  async function readInOrder(): Promise<void> {
    isMore = false
    try {
      // Only set, never cleared here: a wake during the read must not be lost.
      if (await readMore({ exceptNumbers: [], without: [], limit: readAhead })) isMore = true
    } catch (error) {
      isMore = true
      throw error
    }
  }

  /** Reads past blocked messages, which must not hide the ones behind them. */
  async function readPast(wanted: ReadFilter): Promise<void> {
    const startedAtMs = nowMs()
    const limit = Math.min(
      messages.length < windowMax ? windowMax - messages.length : readPastMax,
      messagesMax - messages.length,
    )
    // A wake during the read must not be lost.
    exhausted = wanted
    try {
      const { numbers, without } = wanted
      const after = coverage.after(wanted)
      const [last, hasMore] = await Promise.all([
        queue.findLast(),
        readMore({ exceptNumbers: [...numbers].flatMap(phoneForms), without, limit, after }),
      ])
      if (hasMore) exhausted = undefined
      else coverage.note({ wanted, atMs: startedAtMs, last, wasOfAll: after === undefined })
    } catch (error) {
      exhausted = undefined
      throw error
    } finally {
      const tookMs = nowMs() - startedAtMs
      nextReadAtMs = nowMs() + Math.min(restMs.most, Math.max(restMs.least, restMs.perReadMs * tookMs))
    }
  }

  function remove(message: WaitingMessage): void {
    messages = messages.filter(({ id }) => id !== message.id)
  }

  return {
    list: () => [...messages],
    async refill(availableOf) {
      if (messages.length < readAhead) {
        if (isMore && availableOf(messages).open < readAhead / 2) await readInOrder()
        if (messages.length < readAhead) return 0
      }
      if (!isMore) return 0
      const available = availableOf(messages)
      if (available.open >= readAhead / 2 || messages.length >= messagesMax) return 0
      const wanted = wantedOf(available, messages.length)
      if (isCoveredBy(exhausted, wanted)) return 0
      const waitMs = nextReadAtMs - nowMs()
      if (waitMs > 0) return waitMs
      await readPast(wanted)
      return Math.max(0, nextReadAtMs - nowMs())
    },
    mayHaveMore() {
      isMore = true
      exhausted = undefined
      skipped.clear()
    },
    remove,
    requeue(message) {
      remove(message)
      coverage.forget()
    },
    skip(message) {
      remove(message)
      coverage.forget()
      skipped.add(message.id)
    },
  }
}

/** The lists of several priorities as one, in their order. */
export function joinLists(lists: WaitingList[]): WaitingList {
  const ofPriority = ({ priority }: WaitingMessage) => lists[priority]
  return {
    list: () => lists.flatMap((list) => list.list()),
    async refill(availableOf) {
      // All of them end, so that no list is read twice at a time.
      const refills = await Promise.allSettled(lists.map((list) => list.refill(availableOf)))
      const waitsMs = refills.map((refill) => {
        if (refill.status === 'rejected') throw refill.reason
        return refill.value
      })
      const first = Math.min(...waitsMs.filter((waitMs) => waitMs > 0))
      return Number.isFinite(first) ? first : 0
    },
    mayHaveMore() {
      for (const list of lists) list.mayHaveMore()
    },
    remove: (message) => ofPriority(message)?.remove(message),
    requeue: (message) => ofPriority(message)?.requeue(message),
    skip: (message) => ofPriority(message)?.skip(message),
  }
}

function wantedOf({ stocked, blocked }: Available, listed: number): ReadFilter {
  const kinds: BlockReason[] = ['newContacts', 'unprepared', 'attempted']
  const without = listed < windowMax ? [] : kinds.filter((kind) => blocked[kind] >= blockedMin)
  return { numbers: stocked, without }
}

/** What a read leaves out. */
type ReadFilter = { numbers: Set<string>; without: BlockReason[] }

/** Up to which message a read past blocked messages finds nothing more, so that the next one need not read the queue again. */
type ReadCoverage = {
  /** Called when a read begins. The message after which it may begin; undefined: it must read all. */
  after(wanted: ReadFilter): number | undefined
  /** The read that began at this time has found everything. `last`: the last message that waited then, if that may be used. */
  note(read: Read): void
  /** Messages that were read, even by a read in progress, have left the list but still wait. */
  forget(): void
}

type Read = { wanted: ReadFilter; atMs: number; last: number | undefined; wasOfAll: boolean }

/** After this time, no message with a lower number can appear: the statements that accept messages are limited to 3 s. */
const settledMs = 10_000
/** In case one has appeared later all the same. */
const allEveryMs = 30_000

function makeReadCoverage(nowMs: () => number): ReadCoverage {
  let covered: (ReadFilter & { seq: number }) | undefined
  let lastReadOfAllMs = Number.NEGATIVE_INFINITY
  let isForgotten = false
  let seen: { seq: number; atMs: number }[] = []

  function findSettled(atMs: number): number | undefined {
    const settled = seen.findLastIndex((one) => atMs - one.atMs >= settledMs)
    seen = seen.slice(Math.max(0, settled))
    return settled < 0 ? undefined : seen[0]?.seq
  }

  function forget(): void {
    covered = undefined
    isForgotten = true
  }

  return {
    after(wanted) {
      isForgotten = false
      if (wanted.without.length > 0 || nowMs() - lastReadOfAllMs > allEveryMs) return undefined
      return isCoveredBy(covered, wanted) ? covered?.seq : undefined
    },
    note({ wanted, atMs, last, wasOfAll }) {
      // Which messages wait behind a blocked one can only be told from the whole queue.
      if (wanted.without.length > 0) return
      if (wasOfAll) lastReadOfAllMs = atMs
      if (last === undefined || isForgotten) return forget()
      const seq = findSettled(atMs)
      seen.push({ seq: last, atMs })
      covered = seq === undefined ? undefined : { ...wanted, seq }
    },
    forget,
  }
}

/** A read whose filter leaves out at least as much as the last one's finds nothing new either. */
function isCoveredBy(done: ReadFilter | undefined, wanted: ReadFilter): boolean {
  if (!done) return false
  const { numbers, without } = done
  return (
    [...numbers].every((number) => wanted.numbers.has(number)) &&
    without.every((kind) => wanted.without.includes(kind))
  )
}
