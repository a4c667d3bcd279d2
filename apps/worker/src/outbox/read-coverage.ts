import type { BlockReason } from '@wagate/db/queries/messages/waiting-messages'

/** What a read leaves out. */
export type ReadFilter = { numbers: Set<string>; without: BlockReason[] }

/** Up to which message a read past blocked messages finds nothing more, so that the next one need not read the queue again. */
export type ReadCoverage = {
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

export function makeReadCoverage(nowMs: () => number): ReadCoverage {
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
export function isCoveredBy(done: ReadFilter | undefined, wanted: ReadFilter): boolean {
  if (!done) return false
  const { numbers, without } = done
  return (
    [...numbers].every((number) => wanted.numbers.has(number)) &&
    without.every((kind) => wanted.without.includes(kind))
  )
}
