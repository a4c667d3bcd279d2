/**
 * How many shards the worker gets that is `rank` places behind the longest-running one. The shares of all
 * workers add up to `shards` and differ by one at most. A worker that joins comes last and only shrinks the
 * shares of others, one that leaves only grows them: nothing moves but what it takes or leaves.
 */
export function fairShare(shards: number, rank: number, workers: number): number {
  return Math.max(0, Math.ceil((shards - rank) / workers))
}

/** As many of the shards as are wanted and fit: `room` is in linked devices. Earlier ones are preferred. */
export function chooseClaims(
  unowned: { shard: number; linked: number }[],
  wanted: number,
  room: number,
): number[] {
  const chosen: number[] = []
  let roomLeft = room
  for (const { shard, linked } of unowned) {
    if (chosen.length >= wanted) break
    if (linked > 0 && linked > roomLeft) continue
    roomLeft -= linked
    chosen.push(shard)
  }
  return chosen
}

/** A worker below its share: `missing` in shards, `room` in linked devices. */
export type Receiver = { missing: number; room: number }

/** At most `excess` of the shards, cheapest first, and only those that a receiver has room for. */
export function chooseReleases(
  held: { shard: number; linked: number }[],
  excess: number,
  receivers: Receiver[],
): number[] {
  const left = receivers.map((receiver) => ({ ...receiver }))
  const chosen: number[] = []
  for (const { shard, linked } of held) {
    if (chosen.length >= excess) break
    const receiver = left.find(({ missing, room }) => missing > 0 && (linked === 0 || linked <= room))
    if (!receiver) continue
    receiver.missing -= 1
    receiver.room -= linked
    chosen.push(shard)
  }
  return chosen
}
