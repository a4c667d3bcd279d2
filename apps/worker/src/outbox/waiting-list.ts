import type { WaitingMessage } from '@wagate/db/queries/outbox'

const readAhead = 64
const messagesMax = 512

type Read = (query: { except: string[]; exceptNumbers: string[]; limit: number }) => Promise<WaitingMessage[]>

/** The next messages of a device, in their order, read ahead of the sending. A message stays until it is removed. */
export type WaitingList = {
  /** A copy, safe to walk while messages are removed. */
  list(): WaitingMessage[]
  /** Reads more if there may be more and less than half of a read is left that `isBlocked` lets go. */
  refill(isBlocked: (message: WaitingMessage) => boolean): Promise<void>
  /** Somebody says that there are new rows. */
  mayHaveMore(): void
  remove(message: WaitingMessage): void
  /** Removes it and does not read it again before the next `mayHaveMore`. */
  skip(message: WaitingMessage): void
}

export function makeWaitingList(read: Read): WaitingList {
  let messages: WaitingMessage[] = []
  let isMore = true
  const skipped = new Set<string>()

  function remove(message: WaitingMessage): void {
    messages = messages.filter(({ id }) => id !== message.id)
  }

  return {
    list: () => [...messages],
    async refill(isBlocked) {
      const blocked = messages.filter(isBlocked)
      const isEnough = messages.length - blocked.length >= readAhead / 2 || messages.length >= messagesMax
      if (!isMore || isEnough) return
      // A recipient with a long queue that stands still must not hide the others behind it.
      const exceptNumbers =
        messages.length >= readAhead ? [...new Set(blocked.map(({ number }) => number))] : []
      isMore = false
      try {
        const found = await read({
          except: [...messages.map(({ id }) => id), ...skipped],
          exceptNumbers,
          limit: readAhead,
        })
        messages.push(...found)
        isMore ||= found.length === readAhead || exceptNumbers.length > 0
      } catch (error) {
        isMore = true
        throw error
      }
    },
    mayHaveMore() {
      isMore = true
      skipped.clear()
    },
    remove,
    skip(message) {
      remove(message)
      skipped.add(message.id)
    },
  }
}
