import type { Database } from '@wagate/db/client'
import {
  claimShards,
  countLinkedDevicesByOwner,
  listUnownedShards,
  releaseShards,
  type UnownedShard,
} from '@wagate/db/queries/shard-leases'
import { type LiveWorker, listLiveWorkers } from '@wagate/db/queries/workers'
import type { Logger } from '@wagate/shared/logger'
import type { HeldShards } from './held-shards.ts'
import type { Registration } from './membership.ts'
import { chooseClaims, chooseReleases, fairShare, type Receiver, type ReleaseLimits } from './shares.ts'

export type PlacementOptions = {
  db: Database
  logger: Logger
  held: HeldShards
  shards: number
  capacity: number
  tickMs: number
  publishShardsChanged: () => Promise<void>
}

export type Placement = {
  /** Claims what is missing and releases a part of what is too much. True: look again at once. */
  settle(registration: Registration): Promise<boolean>
  /** Shards that stand without an owner because nobody has room for their devices. */
  readonly unplaced: number
}

/** A shard that those below their share leave alone for so many ticks goes to whoever has room. */
const spillTicks = 4
const unplacedTicks = 10
/** After such a claim nothing is given back for so many ticks, or it would go to and fro. */
const restTicks = 60
/** When nobody below its share has room, the costly look at everybody's devices waits so many ticks. */
const idleTicks = 10
/** In one tick. The receiver opens about as many sessions in that time, so none waits long for its turn. */
const releaseLimits: ReleaseLimits = { shards: 64, devices: 20 }
const noCapacityLogMs = 60_000

export function makePlacement(options: PlacementOptions): Placement {
  const { db, logger, held, shards, capacity, tickMs, publishShardsChanged } = options
  let unownedSince = new Map<number, number>()
  let nextReleaseAtMs = 0
  let nextNoCapacityLogAtMs = 0
  let unplaced = 0

  function noteUnowned(unowned: UnownedShard[], nowMs: number): void {
    unownedSince = new Map(unowned.map(({ shard }) => [shard, unownedSince.get(shard) ?? nowMs]))
    unplaced = olderThan(unplacedTicks, unowned, nowMs).length
    if (unplaced === 0 || nowMs < nextNoCapacityLogAtMs) return
    nextNoCapacityLogAtMs = nowMs + noCapacityLogMs
    logger.warn({ reason: 'no_capacity', shards: unplaced }, 'No worker has room: start one more')
  }

  function olderThan(ticks: number, unowned: UnownedShard[], nowMs: number): UnownedShard[] {
    return unowned.filter(({ shard }) => nowMs - (unownedSince.get(shard) ?? nowMs) > ticks * tickMs)
  }

  async function claim(registration: Registration, wanted: number, from: UnownedShard[]): Promise<number> {
    const room = capacity - held.linkedDevices()
    const chosen = chooseClaims(shuffled(from), wanted, room)
    if (chosen.length === 0) return 0
    const claimed = await claimShards(db, registration.workerId, chosen)
    if (claimed.length > 0) {
      logger.info({ shards: claimed.length }, 'Claims shards')
      await held.take(claimed, registration)
    }
    // Others may have been faster: what they left is worth another look.
    return chosen.length - claimed.length
  }

  async function release(registration: Registration, workers: LiveWorker[], unowned: number): Promise<void> {
    const nowMs = performance.now()
    if (nowMs < nextReleaseAtMs) return
    nextReleaseAtMs = nowMs + tickMs
    const linkedOf = new Map(
      (await countLinkedDevicesByOwner(db)).map(({ owner, linked }) => [owner, linked]),
    )
    const receivers: Receiver[] = workers.map((worker, rank) => ({
      missing: fairShare(shards, rank, workers.length) - worker.owned,
      room: worker.capacity - (linkedOf.get(worker.id) ?? 0),
    }))
    const missing = receivers.reduce((total, receiver) => total + Math.max(0, receiver.missing), 0)
    const excess = held.list().length - shareOf(registration, workers)
    const chosen = chooseReleases(held.list(), receivers, {
      ...releaseLimits,
      shards: Math.min(releaseLimits.shards, excess, missing - unowned),
    })
    if (chosen.length === 0) {
      nextReleaseAtMs = nowMs + idleTicks * tickMs
      return
    }
    const leaving = held.list().filter(({ shard }) => chosen.includes(shard))
    await held.dropReleased(chosen)
    await releaseShards(db, registration.workerId, leaving)
    await publishShardsChanged()
    logger.info({ shards: chosen.length }, 'Releases shards to workers below their share')
  }

  function shareOf({ workerId }: Registration, workers: LiveWorker[]): number {
    const rank = workers.findIndex(({ id }) => id === workerId)
    return rank < 0 ? 0 : fairShare(shards, rank, workers.length)
  }

  return {
    get unplaced() {
      return unplaced
    },

    async settle(registration) {
      const nowMs = performance.now()
      const workers = await listLiveWorkers(db)
      const unowned = await listUnownedShards(db)
      noteUnowned(unowned, nowMs)
      const stale = olderThan(spillTicks, unowned, nowMs)
      const missing = shareOf(registration, workers) - held.list().length
      if (unowned.length > 0 && missing > 0) return (await claim(registration, missing, unowned)) > 0
      if (stale.length > 0) {
        nextReleaseAtMs = nowMs + restTicks * tickMs
        await claim(registration, Math.ceil(stale.length / workers.length), stale)
      } else if (missing < 0) {
        await release(registration, workers, unowned.length)
      }
      return false
    },
  }
}

/** Workers that look at the same moment would otherwise all reach for the same shards. */
function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
