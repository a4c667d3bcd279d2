import type { UnownedShard } from '@wagate/db/queries/shard-leases'
import type { Logger } from '@wagate/runtime/logger'

export type UnownedWatch = {
  note(unowned: UnownedShard[]): void
  /** Unowned for several ticks: whoever wanted them had the time to claim. */
  stale(unowned: UnownedShard[]): UnownedShard[]
  /** Unowned for so long that whoever should claim them must be stuck. */
  forgotten(unowned: UnownedShard[]): UnownedShard[]
  /** Unowned although everybody with room would have taken them. */
  readonly unplaced: number
}

const staleTicks = 4
const unplacedTicks = 10
const forgottenTicks = 30
const logMs = 60_000

/** Remembers since when shards are unowned, and says once a minute that nobody has room for them. */
export function makeUnownedWatch({ logger, tickMs }: { logger: Logger; tickMs: number }): UnownedWatch {
  let sinceMs = new Map<number, number>()
  let nextLogAtMs = 0
  let unplaced = 0

  function olderThan(ticks: number, unowned: UnownedShard[]): UnownedShard[] {
    const nowMs = performance.now()
    return unowned.filter(({ shard }) => nowMs - (sinceMs.get(shard) ?? nowMs) > ticks * tickMs)
  }

  return {
    note(unowned) {
      const nowMs = performance.now()
      sinceMs = new Map(unowned.map(({ shard }) => [shard, sinceMs.get(shard) ?? nowMs]))
      unplaced = olderThan(unplacedTicks, unowned).length
      if (unplaced === 0 || nowMs < nextLogAtMs) return
      nextLogAtMs = nowMs + logMs
      logger.warn({ reason: 'no_capacity', shards: unplaced }, 'No worker has room: start one more')
    },

    stale: (unowned) => olderThan(staleTicks, unowned),
    forgotten: (unowned) => olderThan(forgottenTicks, unowned),

    get unplaced() {
      return unplaced
    },
  }
}
