import { cheapestFirst } from './move-order.ts'
import { areOpening, planReleases } from './releases.ts'
import { chooseClaims, withoutReceiver } from './shares.ts'
import { isSettled, loadOf, missingShards, receiversAmong, surplusDevices, type View } from './view.ts'

/** What a worker remembers from one tick to the next. */
export type Memory = {
  /** When it first saw each of the shards without an owner. */
  unownedSinceMs: ReadonlyMap<number, number>
  releaseNotBeforeMs: number
}

export type Plan = {
  claim: number[]
  release: number[]
  /** When other workers claim first: poll again at once, for the shards they left. */
  retriesLostClaims: boolean
  /** Shards that stayed unclaimed for so long that no worker can have room for them. */
  unplaced: number
  nextPollMs: number
  /** Not sooner than this, even when other workers report a change. */
  restMs: number
  memory: Memory
}

/** In ticks: when shards without an owner may be claimed beyond the share, count as unplaced, and are claimed in any case. */
const staleTicks = 4
const unplacedTicks = 10
const forgottenTicks = 30

/** Between two polls while there is nothing to do. A worker that joins or hands over wakes the others. */
export const restTicks = 4

/** In ticks, without releases. After a claim: a sender that has just moved should not move again at once. */
const afterClaimTicks = 6
/** After counting all devices and finding nothing to release. */
const afterIdleTicks = 10
/** After claiming what others have room for but do not claim, or the shards would move back and forth. */
const afterForgottenTicks = 60

/** Caps lease polls at 500 per second across all workers. */
export const restMsPerWorker = 2

export const emptyMemory: Memory = { unownedSinceMs: new Map(), releaseNotBeforeMs: 0 }

/** Whether `planTick` needs `deviceCounts`. Without them it plans neither leftovers nor releases. */
export function needsDeviceCounts(view: View, memory: Memory): boolean {
  return mayClaimLeftovers(view, memory) || mayRelease(view, memory)
}

/**
 * What a worker does in one tick: claims what it is below its share, claims what no other worker has room for, or
 * releases a part of what it has beyond its share. `random` is in [0, 1).
 */
export function planTick(view: View, memory: Memory, random: () => number): Plan {
  const moves = planMoves(view, memory, random)
  return {
    claim: [],
    release: [],
    retriesLostClaims: false,
    ...moves,
    memory: { ...memory, ...moves.memory, unownedSinceMs: noteUnowned(view, memory) },
    unplaced: olderThan(unplacedTicks, view, memory).length,
    nextPollMs: Math.min(view.tickMs * (isAtRest(view) ? restTicks : 1), untilNextDeathMs(view)),
    restMs: view.workers.length * restMsPerWorker,
  }
}

/** For a worker that has claimed shards. */
export function afterClaim(memory: Memory, { nowMs, tickMs }: Pick<View, 'nowMs' | 'tickMs'>): Memory {
  const releaseNotBeforeMs = Math.max(memory.releaseNotBeforeMs, nowMs + afterClaimTicks * tickMs)
  return { ...memory, releaseNotBeforeMs }
}

type Moves = Partial<Pick<Plan, 'claim' | 'release' | 'retriesLostClaims'>> & { memory?: Partial<Memory> }

function planMoves(view: View, memory: Memory, random: () => number): Moves {
  const missing = missingShards(view)
  if (missing > 0) {
    const claim = chooseClaims(shuffled(view.unowned, random), missing, loadOf(view))
    return { claim, retriesLostClaims: true }
  }
  if (!view.deviceCounts) return {}
  if (mayClaimLeftovers(view, memory)) {
    const leftovers = planLeftovers(view, memory, random)
    if (leftovers) return leftovers
  }
  return mayRelease(view, memory) ? planRelease(view, -missing) : {}
}

function mayClaimLeftovers(view: View, memory: Memory): boolean {
  const stale = olderThan(staleTicks, view, memory)
  return stale.length > 0 && missingShards(view) <= 0 && chooseClaims(stale, 1, loadOf(view)).length > 0
}

/** Beyond the share: only what no worker below its share has room for, or what all of them leave alone for long. */
function planLeftovers(view: View, memory: Memory, random: () => number): Moves | undefined {
  const left = withoutReceiver(olderThan(staleTicks, view, memory), receiversAmong(view))
  const forgotten = olderThan(forgottenTicks, view, memory)
  const choose = (from: View['unowned'], of: number) =>
    chooseClaims(shuffled(from, random), Math.ceil(of / view.workers.length), loadOf(view))
  if (left.length > 0) {
    const claim = choose(left, left.length)
    return claim.length > 0 ? { claim } : undefined
  }
  if (forgotten.length === 0) return undefined
  return {
    claim: choose(forgotten, view.unowned.length),
    memory: { releaseNotBeforeMs: view.nowMs + afterForgottenTicks * view.tickMs },
  }
}

function mayRelease(view: View, memory: Memory): boolean {
  return missingShards(view) < 0 && view.nowMs >= memory.releaseNotBeforeMs
}

function planRelease(view: View, excess: number): Moves {
  const { nowMs, tickMs, unowned } = view
  const receivers = receiversAmong(view)
  const movable = cheapestFirst(view.owned.filter(({ isMovable }) => isMovable))
  const surplus = { movable, excess, surplusDevices: surplusDevices(view), unowned }
  const release = planReleases(surplus, receivers)
  const isIdle = release.length === 0 && !areOpening(receivers, unowned)
  return { release, memory: { releaseNotBeforeMs: nowMs + (isIdle ? afterIdleTicks : 1) * tickMs } }
}

function isAtRest(view: View): boolean {
  return isSettled(view) && missingShards(view) === 0
}

function noteUnowned({ nowMs, unowned }: View, { unownedSinceMs }: Memory): Memory['unownedSinceMs'] {
  return new Map(unowned.map(({ shard }) => [shard, unownedSinceMs.get(shard) ?? nowMs]))
}

function olderThan(
  ticks: number,
  { nowMs, tickMs, unowned }: View,
  { unownedSinceMs }: Memory,
): View['unowned'] {
  return unowned.filter(({ shard }) => nowMs - (unownedSinceMs.get(shard) ?? nowMs) > ticks * tickMs)
}

/** Until another worker may next be marked dead, unless it renews its lease before. */
function untilNextDeathMs({ selfId, workers }: View): number {
  let nextMs = Number.POSITIVE_INFINITY
  for (const { id, deathInMs } of workers)
    if (id !== selfId && deathInMs !== null && deathInMs < nextMs) nextMs = deathInMs
  return nextMs + 1
}

/** Workers that poll at the same moment would otherwise all try to claim the same shards. */
function shuffled<T>(items: T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
