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

/** The shards that are left when every receiver has taken what it may: those that somebody else should take. */
export function withoutReceiver<Shard extends { linked: number }>(
  unowned: Shard[],
  receivers: Receiver[],
): Shard[] {
  const place = makePlaces(receivers)
  return unowned.filter(({ linked }) => !place(linked))
}

/** How much moves at a time: the sessions of linked devices have to be opened again elsewhere. */
export type ReleaseLimits = { shards: number; devices: number }

/**
 * What to give away first: shards with linked devices up to the surplus, so that a newcomer gets its part of
 * the work and not only of the shards; then those that are cheap to move. `held` comes cheapest first.
 */
export function orderForRelease<Shard extends { linked: number }>(
  held: Shard[],
  surplusDevices: number,
): Shard[] {
  let devices = 0
  const surplus = new Set(
    held.filter(({ linked }) => {
      if (linked === 0 || devices + linked > surplusDevices) return false
      devices += linked
      return true
    }),
  )
  return [...surplus, ...held.filter((shard) => !surplus.has(shard))]
}

/** A prefix of the shards, in the order given, that the receivers have room for; one at least, however many devices it has. */
export function chooseReleases(
  held: { shard: number; linked: number }[],
  receivers: Receiver[],
  limits: ReleaseLimits,
): number[] {
  const place = makePlaces(receivers)
  const chosen: number[] = []
  let devices = 0
  for (const { shard, linked } of held) {
    if (chosen.length >= limits.shards) break
    if (chosen.length > 0 && devices + linked > limits.devices) break
    if (!place(linked)) break
    devices += linked
    chosen.push(shard)
  }
  return chosen
}

/** In one look. The receiver opens about as many sessions until the next, so none waits long for its turn. */
const releaseLimits: ReleaseLimits = { shards: 64, devices: 20 }

export type Surplus = {
  /** What may be given away, cheapest first. */
  movable: { shard: number; linked: number }[]
  /** Shards beyond the share. */
  excess: number
  /** Linked devices beyond the average. */
  surplusDevices: number
  /** Shards without an owner, which those below their share take first. */
  unowned: number
}

/** What a worker beyond its share gives away in one look. */
export function planReleases(
  { movable, excess, surplusDevices, unowned }: Surplus,
  receivers: Receiver[],
): number[] {
  const missing = receivers.reduce((total, receiver) => total + receiver.missing, 0)
  return chooseReleases(orderForRelease(movable, surplusDevices), receivers, {
    ...releaseLimits,
    shards: Math.min(releaseLimits.shards, excess, missing - unowned),
  })
}

/** Gives one shard after the other to a receiver; false when none has a place for it. */
function makePlaces(receivers: Receiver[]): (linked: number) => boolean {
  const left = receivers.map((receiver) => ({ ...receiver }))
  return (linked) => {
    const receiver = left.find(({ missing, room }) => missing > 0 && (linked === 0 || linked <= room))
    if (!receiver) return false
    receiver.missing -= 1
    receiver.room -= linked
    return true
  }
}
