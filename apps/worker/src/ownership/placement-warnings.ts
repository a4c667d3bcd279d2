import type { Logger } from '@wagate/runtime/logger'

const everyMs = 60_000

export type PlacementWarnings = {
  ofOversized(shards: { shard: number; linked: number }[]): void
  ofUnplaced(shards: number): void
}

/** Logs each of them once a minute at most. */
export function makePlacementWarnings(options: { logger: Logger; capacity: number }): PlacementWarnings {
  const { logger, capacity } = options
  const isOversizedDue = makeThrottle()
  const isUnplacedDue = makeThrottle()
  return {
    ofOversized(shards) {
      if (shards.length === 0 || !isOversizedDue()) return
      logger.warn(
        { reason: 'oversized', shards, capacity },
        'A shard has more devices than WORKER_CAPACITY; raise the capacity or the number of shards',
      )
    },
    ofUnplaced(shards) {
      if (shards === 0 || !isUnplacedDue()) return
      logger.warn(
        { reason: 'no_capacity', shards },
        'No worker has capacity for some shards; start another worker',
      )
    },
  }
}

function makeThrottle(): () => boolean {
  let nextAtMs = 0
  return () => {
    const nowMs = performance.now()
    if (nowMs < nextAtMs) return false
    nextAtMs = nowMs + everyMs
    return true
  }
}
