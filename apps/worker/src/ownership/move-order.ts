/** Cheapest first: linked devices are what makes a shard expensive to move. */
export function cheapestFirst<Shard extends { shard: number; linked: number }>(shards: Shard[]): Shard[] {
  return shards.toSorted((a, b) => a.linked - b.linked || scatter(a.shard) - scatter(b.shard))
}

/** The first shards with `devicesMax` linked devices together, and at least one shard. */
export function firstWithin<Shard extends { linked: number }>(shards: Shard[], devicesMax: number): Shard[] {
  let devices = 0
  const end = shards.findIndex(({ linked }, index) => {
    devices += linked
    return index > 0 && devices > devicesMax
  })
  return end < 0 ? shards : shards.slice(0, end)
}

/**
 * Fibonacci hashing. Consecutive devices are in consecutive shards, so moving shards in their order would leave all
 * devices of a small installation with one worker.
 */
function scatter(shard: number): number {
  return Math.imul(shard, 0x9e3779b1) >>> 0
}
