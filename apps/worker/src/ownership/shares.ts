/**
 * The number of shards for the worker with `rank` longer-running workers before it. The shares of all workers add up
 * to `shards` and differ by one at most. A worker that joins has the last rank, so it only shrinks the shares of the
 * others; one that leaves only grows them. No other shards have to move.
 */
export function fairShare(shards: number, rank: number, workers: number): number {
  return Math.max(0, Math.ceil((shards - rank) / workers))
}

/** The linked devices of a worker, how many it may have, and how many the largest worker may have. */
export type Load = { linked: number; capacity: number; largestCapacity: number }

/** A worker below its share, which `missing` counts in shards. */
export type Receiver = { missing: number; load: Load }

/**
 * Whether a worker has room for a shard with `linked` devices. A shard with more devices than any worker may have
 * would fit nowhere, so a worker that is at most half full takes it.
 */
function fits(linked: number, load: Load): boolean {
  if (linked === 0) return true
  if (linked > load.largestCapacity) return load.linked <= load.capacity / 2
  return load.linked + linked <= load.capacity
}

/** The first shards that fit, `wanted` at most. */
export function chooseClaims(
  unowned: { shard: number; linked: number }[],
  wanted: number,
  load: Load,
): number[] {
  const chosen: number[] = []
  const after = { ...load }
  for (const { shard, linked } of unowned) {
    if (chosen.length >= wanted) break
    if (!fits(linked, after)) continue
    after.linked += linked
    chosen.push(shard)
  }
  return chosen
}

/** The shards that are left when every receiver has claimed what it has room for. */
export function withoutReceiver<Shard extends { linked: number }>(
  unowned: Shard[],
  receivers: Receiver[],
): Shard[] {
  const assign = makeAssigner(receivers)
  return unowned.filter(({ linked }) => !assign(linked))
}

/** Assigns one shard after the other to a receiver. False when no receiver has room for it. */
export function makeAssigner(receivers: Receiver[]): (linked: number) => boolean {
  const left = receivers.map(({ missing, load }) => ({ missing, load: { ...load } }))
  return (linked) => {
    const receiver = left.find(({ missing, load }) => missing > 0 && fits(linked, load))
    if (!receiver) return false
    receiver.missing -= 1
    receiver.load.linked += linked
    return true
  }
}
