import type { Database } from '@wagate/db/client'
import {
  claimShards,
  countLinkedDevicesByOwner,
  listUnownedShards,
  releaseShards,
  type UnownedShard,
} from '@wagate/db/queries/shard-leases'
import { type LiveWorker, listLiveWorkers, type WorkerTimeouts } from '@wagate/db/queries/workers'
import type { Logger } from '@wagate/shared/logger'
import type { HeldShards } from './held-shards.ts'
import type { Registration } from './membership.ts'
import { makeOversizedWarning } from './oversized-warning.ts'
import {
  areOpening,
  chooseClaims,
  fairShare,
  type Load,
  type OpeningReceiver,
  planReleases,
  withoutReceiver,
} from './shares.ts'
import type { NextRun } from './ticker.ts'
import { makeUnownedWatch } from './unowned-watch.ts'

/** How many devices of a worker have credentials, and how many of these wait for their turn to log in. */
type Linked = { linked: number; opening: number }

export type PlacementOptions = {
  db: Database
  logger: Logger
  held: HeldShards
  shards: number
  capacity: number
  patience: WorkerTimeouts
  tickMs: number
  publishShardsChanged: () => Promise<void>
}

type Situation = { workers: LiveWorker[]; unowned: UnownedShard[] }

export type Placement = {
  look(): Promise<Situation>
  /** Claims what is missing and releases a part of what is too much. Says when another look is worth it. */
  settle(registration: Registration, situation: Situation): Promise<NextRun>
  /** Shards that stand without an owner because nobody has room for their devices. */
  readonly unplaced: number
  /** Shards of this worker with more linked devices than a worker may have. */
  readonly oversized: number
}

/** After a look at everybody's devices that found nothing to move, for so many ticks. */
export const idleTicks = 10
/** What was claimed has opened its sessions by then: a sender that has just moved should not move again at once. */
export const settleTicks = 6
/** After a claim from those who have room but do not claim, or the shards would go to and fro. */
const restTicks = 60

/** However many workers there are, and whoever wakes them: together they look at most so often, 500 times a second. */
export const restMsPerWorker = 2

export function makePlacement(options: PlacementOptions): Placement {
  const { db, logger, held, shards, capacity, patience, tickMs, publishShardsChanged } = options
  const watch = makeUnownedWatch({ logger, tickMs })
  const warnOfOversized = makeOversizedWarning({ logger, capacity })
  let nextReleaseAtMs = 0

  function shareOf({ workerId }: Registration, workers: LiveWorker[]): number {
    const rank = workers.findIndex(({ id }) => id === workerId)
    return rank < 0 ? 0 : fairShare(shards, rank, workers.length)
  }

  async function countLinked(): Promise<Map<string, Linked>> {
    return new Map((await countLinkedDevicesByOwner(db)).map(({ owner, ...linked }) => [owner, linked]))
  }

  function receiversAmong(workers: LiveWorker[], linkedOf: Map<string, Linked>): OpeningReceiver[] {
    const largestCapacity = largestOf(workers)
    return workers.map(({ id, owned, capacity }, rank) => {
      const { linked, opening } = linkedOf.get(id) ?? { linked: 0, opening: 0 }
      const missing = Math.max(0, fairShare(shards, rank, workers.length) - owned)
      return { missing, load: { linked, capacity, largestCapacity }, opening }
    })
  }

  const loadAmong = (workers: LiveWorker[]): Load => ({
    linked: held.linkedDevices(),
    capacity,
    largestCapacity: largestOf(workers),
  })

  const listOversized = () => held.list().filter(({ linked }) => linked > capacity)

  /** Returns how many others were faster to claim: what they left is worth another look. */
  async function claim(
    registration: Registration,
    workers: LiveWorker[],
    wanted: number,
    from: UnownedShard[],
  ): Promise<number> {
    const chosen = chooseClaims(shuffled(from), wanted, loadAmong(workers))
    if (chosen.length === 0) return 0
    const linkedOf = new Map(from.map(({ shard, linked }) => [shard, linked]))
    const claimed = await claimShards(db, registration.workerId, chosen)
    if (claimed.length > 0) {
      logger.info({ shards: claimed.length }, 'Claims shards')
      nextReleaseAtMs = Math.max(nextReleaseAtMs, performance.now() + settleTicks * tickMs)
      // Not awaited: it takes seconds on a busy machine, and others may die in the meantime.
      void held.take(
        claimed.map((owned) => ({ ...owned, linked: linkedOf.get(owned.shard) ?? 0 })),
        registration,
      )
    }
    return chosen.length - claimed.length
  }

  /** Beyond the share: only what nobody below its share has room for, or leaves alone for long. */
  async function claimLeftovers(
    registration: Registration,
    workers: LiveWorker[],
    unowned: UnownedShard[],
  ): Promise<void> {
    const stale = watch.stale(unowned)
    if (chooseClaims(stale, 1, loadAmong(workers)).length === 0) return
    const left = withoutReceiver(stale, receiversAmong(workers, await countLinked()))
    if (left.length > 0) {
      await claim(registration, workers, Math.ceil(left.length / workers.length), left)
    } else if (watch.forgotten(unowned).length > 0) {
      nextReleaseAtMs = performance.now() + restTicks * tickMs
      await claim(registration, workers, Math.ceil(unowned.length / workers.length), watch.forgotten(unowned))
    }
  }

  async function release(
    registration: Registration,
    workers: LiveWorker[],
    unowned: UnownedShard[],
  ): Promise<void> {
    const nowMs = performance.now()
    if (nowMs < nextReleaseAtMs) return
    nextReleaseAtMs = nowMs + tickMs
    const linkedOf = await countLinked()
    const receivers = receiversAmong(workers, linkedOf)
    const devices = [...linkedOf.values()].reduce((total, { linked }) => total + linked, 0)
    const surplus = (linkedOf.get(registration.workerId)?.linked ?? 0) - Math.ceil(devices / workers.length)
    const excess = held.list().length - shareOf(registration, workers)
    const movable = held.listMovable()
    const chosen = planReleases({ movable, excess, surplusDevices: surplus, unowned }, receivers)
    if (chosen.length === 0) {
      if (!areOpening(receivers, unowned)) nextReleaseAtMs = nowMs + idleTicks * tickMs
      return
    }
    const leaving = held.list().filter(({ shard }) => chosen.includes(shard))
    await held.dropReleased(chosen)
    await releaseShards(db, registration.workerId, leaving)
    await publishShardsChanged()
    logger.info({ shards: chosen.length }, 'Releases shards to workers below their share')
  }

  return {
    get unplaced() {
      return watch.unplaced
    },
    get oversized() {
      return listOversized().length
    },

    async look() {
      const [workers, unowned] = await Promise.all([listLiveWorkers(db, patience), listUnownedShards(db)])
      return { workers, unowned }
    },

    async settle(registration, { workers, unowned }) {
      const restMs = workers.length * restMsPerWorker
      watch.note(unowned)
      warnOfOversized(listOversized())
      const missing = shareOf(registration, workers) - held.list().length
      if (unowned.length > 0 && missing > 0) {
        if ((await claim(registration, workers, missing, unowned)) > 0) return { againInMs: 0, restMs }
      } else if (unowned.length > 0) {
        await claimLeftovers(registration, workers, unowned)
      }
      if (missing < 0) await release(registration, workers, unowned)
      return { againInMs: untilNextDeath(registration, workers), restMs }
    },
  }
}

/** Of a worker that does not renew its lease before. */
function untilNextDeath({ workerId }: Registration, workers: LiveWorker[]): number {
  const others = workers.filter(({ id }) => id !== workerId)
  return Math.min(...others.map(({ deathInMs }) => deathInMs ?? Number.POSITIVE_INFINITY)) + 1
}

function largestOf(workers: LiveWorker[]): number {
  return Math.max(0, ...workers.map(({ capacity }) => capacity))
}

/** Workers that look at the same moment would otherwise all reach for the same shards. */
function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
