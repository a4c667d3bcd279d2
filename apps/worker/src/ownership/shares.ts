/**
 * How many shards the worker gets that is `rank` places behind the longest-running one. The shares of all
 * workers add up to `shards` and differ by one at most. A worker that joins comes last and only shrinks the
 * shares of others, one that leaves only grows them: nothing moves but what it takes or leaves.
 */
export function fairShare(shards: number, rank: number, workers: number): number {
  return Math.max(0, Math.ceil((shards - rank) / workers))
}

/** The linked devices of a worker, how many it may have, and how many the largest worker may have. */
export type Load = { linked: number; capacity: number; largestCapacity: number }

/**
 * Whether a worker has room for a shard with `linked` devices. One with more devices than any worker may have would
 * fit nowhere: it goes to a worker that is at most half full.
 */
function fits(linked: number, load: Load): boolean {
  if (linked === 0) return true
  if (linked > load.largestCapacity) return load.linked <= load.capacity / 2
  return load.linked + linked <= load.capacity
}

/** As many of the shards as are wanted and fit. Earlier ones are preferred. */
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

/** A worker below its share, which `missing` counts in shards. */
export type Receiver = { missing: number; load: Load }

/** `opening`: of its linked devices, those whose turn to log in has not come yet. */
export type OpeningReceiver = Receiver & { opening: number }

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

/**
 * A prefix of the shards, in the order given, that the receivers have room for; one at least, however many devices it
 * has. A shard with more devices than any worker may have stays where it is: it would be too much for the next as well.
 */
export function chooseReleases(
  held: { shard: number; linked: number }[],
  receivers: Receiver[],
  limits: ReleaseLimits,
): number[] {
  const place = makePlaces(
    receivers.map(({ missing, load }) => ({
      missing,
      load: { ...load, largestCapacity: Number.POSITIVE_INFINITY },
    })),
  )
  const chosen: number[] = []
  for (const { shard, linked } of firstOf(held, limits.devices)) {
    if (chosen.length >= limits.shards || !place(linked)) break
    chosen.push(shard)
  }
  return chosen
}

/** The first of the shards, with at most so many linked devices together; one at least, however many it has. */
function firstOf<Shard extends { linked: number }>(shards: Shard[], devicesMax: number): Shard[] {
  let devices = 0
  const end = shards.findIndex(({ linked }, index) => {
    devices += linked
    return index > 0 && devices > devicesMax
  })
  return end < 0 ? shards : shards.slice(0, end)
}

/** In one look. */
const releaseLimits: ReleaseLimits = { shards: 64, devices: 20 }

/** A process that has just started takes most of a second for as many. What a receiver gets beyond waits for its turn, offline. */
const openingMax = 2

export type Surplus = {
  /** What may be given away, cheapest first. */
  movable: { shard: number; linked: number }[]
  /** Shards beyond the share. */
  excess: number
  /** Linked devices beyond the average. */
  surplusDevices: number
  /** Shards without an owner, which those below their share take first. */
  unowned: { linked: number }[]
}

/** What a worker beyond its share gives away in one look. */
export function planReleases(
  { movable, excess, surplusDevices, unowned }: Surplus,
  receivers: OpeningReceiver[],
): number[] {
  const short = receivers.filter(({ missing }) => missing > 0)
  const missing = short.reduce((total, receiver) => total + receiver.missing, 0)
  const devices = roomToOpen(short, unowned)
  if (devices <= 0) return []
  return chooseReleases(orderForRelease(movable, surplusDevices), short, {
    shards: Math.min(releaseLimits.shards, excess, missing - unowned.length),
    devices: Math.min(releaseLimits.devices, devices),
  })
}

/** In linked devices. A shard with more than `openingMax` counts as so many: each receiver may have one such at a time. */
function roomToOpen(short: OpeningReceiver[], unowned: { linked: number }[]): number {
  const free = short.reduce((total, { opening }) => total + Math.max(0, openingMax - opening), 0)
  return unowned.reduce((left, { linked }) => left - Math.min(linked, openingMax), free)
}

/** Whether devices are on their way to those below their share, which more have to wait for. */
export function areOpening(receivers: OpeningReceiver[], unowned: { linked: number }[]): boolean {
  return (
    receivers.some(({ missing, opening }) => missing > 0 && opening > 0) ||
    unowned.some(({ linked }) => linked > 0)
  )
}

/** Gives one shard after the other to a receiver; false when none has a place for it. */
function makePlaces(receivers: Receiver[]): (linked: number) => boolean {
  const left = receivers.map(({ missing, load }) => ({ missing, load: { ...load } }))
  return (linked) => {
    const receiver = left.find(({ missing, load }) => missing > 0 && fits(linked, load))
    if (!receiver) return false
    receiver.missing -= 1
    receiver.load.linked += linked
    return true
  }
}

/** A hand-over takes a few seconds, however much there is: nobody who stops a process waits for long. */
const wavesMax = 12

/** How many linked devices go at a time when a worker that stops hands so many over to so many others. */
export function waveSize(devices: number, receivers: number): number {
  return Math.max(openingMax * receivers, Math.ceil(devices / wavesMax))
}

/** What a worker that stops gives away next. Shards without linked devices go with the last of the others. */
export function chooseWave<Shard extends { linked: number }>(left: Shard[], devicesMax: number): Shard[] {
  const linked = left.filter((shard) => shard.linked > 0)
  const wave = firstOf(linked, devicesMax)
  return wave.length === linked.length ? left : wave
}
