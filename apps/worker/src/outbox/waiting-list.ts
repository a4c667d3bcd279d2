import { nextMessagesMax } from '@wagate/db/queries/next-messages'
import type { Hindrance, WaitingMessage, WaitingQuery } from '@wagate/db/queries/waiting-messages'
import type { Supply } from './recipient-lanes.ts'

const readAhead = nextMessagesMax
/** Up to this many messages, all kinds are read. Beyond it, blocked kinds are left in the database. */
const windowMax = 256
const messagesMax = 1024
const readPastMax = 128
/** With this many messages of a blocked kind in the list, no more of that kind are read. */
const hinderedMin = 32
/**
 * The pause between two reads past blocked messages. Each may read the keys of all waiting messages of the device, so a
 * slow read is followed by a longer pause, but a message behind the blocked ones must still leave within a second.
 */
const restMs = { least: 100, most: 500, perReadMs: 4 }

type Read = (query: WaitingQuery) => Promise<WaitingMessage[]>

/** The next messages of a device, in their order, read ahead. A message stays until it is removed. */
export type WaitingList = {
  /** Returns a copy, so messages may be removed during iteration. */
  list(): WaitingMessage[]
  /**
   * Reads more if there may be more and too few of the messages read so far can leave soon. Returns how many ms to wait
   * before another refill, 0 when there is nothing to wait for.
   */
  refill(supplyOf: (messages: WaitingMessage[]) => Supply): Promise<number>
  /** There may be new rows. */
  mayHaveMore(): void
  remove(message: WaitingMessage): void
  /** Removes it and does not read it again before the next `mayHaveMore`. */
  skip(message: WaitingMessage): void
}

/** The filter of a read that found everything the filter let through. */
type Exhausted = { numbers: Set<string>; without: Hindrance[] }

export function makeWaitingList(read: Read, nowMs: () => number = () => performance.now()): WaitingList {
  let messages: WaitingMessage[] = []
  let isMore = true
  let exhausted: Exhausted | undefined
  let nextReadAtMs = 0
  const skipped = new Set<string>()

  async function readMore(query: Omit<WaitingQuery, 'except'>): Promise<boolean> {
    const except = [...messages.map(({ id }) => id), ...skipped]
    const found = await read({ ...query, except })
    messages = [...messages, ...found].sort((one, other) => one.seq - other.seq)
    return found.length === query.limit
  }

  async function readInOrder(): Promise<void> {
    isMore = false
    try {
      isMore ||= await readMore({ exceptNumbers: [], without: [], limit: readAhead })
    } catch (error) {
      isMore = true
      throw error
    }
  }

  /** Reads past blocked messages, which must not hide the ones behind them. */
  async function readPast(wanted: Exhausted): Promise<void> {
    const startedAtMs = nowMs()
    const limit = Math.min(
      messages.length < windowMax ? windowMax - messages.length : readPastMax,
      messagesMax - messages.length,
    )
    // A wake during the read must not be lost.
    exhausted = wanted
    try {
      const { numbers, without } = wanted
      if (await readMore({ exceptNumbers: [...numbers], without, limit })) exhausted = undefined
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
    async refill(supplyOf) {
      if (messages.length < readAhead) {
        if (isMore && supplyOf(messages).open < readAhead / 2) await readInOrder()
        if (messages.length < readAhead) return 0
      }
      if (!isMore) return 0
      const supply = supplyOf(messages)
      if (supply.open >= readAhead / 2 || messages.length >= messagesMax) return 0
      const wanted = wantedOf(supply, messages.length)
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
    skip(message) {
      remove(message)
      skipped.add(message.id)
    },
  }
}

function wantedOf({ stocked, hindered }: Supply, listed: number): Exhausted {
  const kinds: Hindrance[] = ['newContacts', 'unprepared', 'attempted']
  const without = listed < windowMax ? [] : kinds.filter((kind) => hindered[kind] >= hinderedMin)
  return { numbers: stocked, without }
}

/** A read whose filter leaves out at least as much as the last one's finds nothing new either. */
function isCoveredBy(exhausted: Exhausted | undefined, wanted: Exhausted): boolean {
  if (!exhausted) return false
  const { numbers, without } = exhausted
  return (
    [...numbers].every((number) => wanted.numbers.has(number)) &&
    without.every((kind) => wanted.without.includes(kind))
  )
}
