import { firstWithin } from './move-order.ts'
import { makeAssigner, type Receiver } from './shares.ts'

/** `opening`: those of its linked devices that still wait for their login. */
export type OpeningReceiver = Receiver & { opening: number }

export type Surplus = {
  /** What may be released, cheapest first. */
  movable: { shard: number; linked: number }[]
  /** Shards beyond the share. */
  excess: number
  /** Linked devices beyond the average. */
  surplusDevices: number
  /** Shards without an owner, which workers below their share claim first. */
  unowned: { linked: number }[]
}

/** Bounds what moves at a time, because the new owner has to log the linked devices in again. */
export type ReleaseLimits = { shards: number; devices: number }

/** In one tick. */
const releaseLimits: ReleaseLimits = { shards: 64, devices: 20 }

/** A process that has just started needs most of a second to log in this many devices. More of them would wait, offline. */
export const openingMax = 2

/** What a worker beyond its share releases in one tick. */
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

/** Whether devices are moving to workers below their share. Further devices have to wait for them. */
export function areOpening(receivers: OpeningReceiver[], unowned: { linked: number }[]): boolean {
  return (
    receivers.some(({ missing, opening }) => missing > 0 && opening > 0) ||
    unowned.some(({ linked }) => linked > 0)
  )
}

/** In linked devices. A larger shard counts as `openingMax`, so each receiver may get one of those at a time. */
function roomToOpen(short: OpeningReceiver[], unowned: { linked: number }[]): number {
  const free = short.reduce((total, { opening }) => total + Math.max(0, openingMax - opening), 0)
  return unowned.reduce((left, { linked }) => left - Math.min(linked, openingMax), free)
}

/**
 * First shards with linked devices up to the surplus, so that a newcomer gets its part of the work and not only of the
 * shards; then those that are cheap to move. `owned` comes cheapest first.
 */
export function orderForRelease<Shard extends { linked: number }>(
  owned: Shard[],
  surplusDevices: number,
): Shard[] {
  let devices = 0
  const surplus = new Set(
    owned.filter(({ linked }) => {
      if (linked === 0 || devices + linked > surplusDevices) return false
      devices += linked
      return true
    }),
  )
  return [...surplus, ...owned.filter((shard) => !surplus.has(shard))]
}

/**
 * A prefix of the shards that the receivers have room for. One shard may exceed the limit of devices, but not the
 * capacity of every receiver: it would be too much for its next owner as well.
 */
export function chooseReleases(
  owned: { shard: number; linked: number }[],
  receivers: Receiver[],
  limits: ReleaseLimits,
): number[] {
  const assign = makeAssigner(
    receivers.map(({ missing, load }) => ({
      missing,
      load: { ...load, largestCapacity: Number.POSITIVE_INFINITY },
    })),
  )
  const chosen: number[] = []
  for (const { shard, linked } of firstWithin(owned, limits.devices)) {
    if (chosen.length >= limits.shards || !assign(linked)) break
    chosen.push(shard)
  }
  return chosen
}
