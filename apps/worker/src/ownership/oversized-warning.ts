import type { Logger } from '@wagate/runtime/logger'

const everyMs = 60_000

/** Says at most once a minute that shards have more linked devices than a worker may have. */
export function makeOversizedWarning({ logger, capacity }: { logger: Logger; capacity: number }) {
  let nextAtMs = 0
  return (oversized: { shard: number; linked: number }[]): void => {
    const nowMs = performance.now()
    if (oversized.length === 0 || nowMs < nextAtMs) return
    nextAtMs = nowMs + everyMs
    logger.warn(
      { reason: 'oversized', shards: oversized, capacity },
      'A shard has more devices than WORKER_CAPACITY: raise it, or the number of shards',
    )
  }
}
