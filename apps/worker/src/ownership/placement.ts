import type { Database } from '@wagate/db/client'
import {
  claimShards,
  countLinkedDevicesByOwner,
  listUnownedShards,
  releaseShards,
} from '@wagate/db/queries/workers/shard-leases'
import { listLiveWorkers, type WorkerTimeouts } from '@wagate/db/queries/workers/workers'
import type { Logger } from '@wagate/runtime/logger'
import type { Registration } from './membership.ts'
import type { OwnedShards } from './owned-shards.ts'
import { afterClaim, emptyMemory, needsDeviceCounts, type Plan, planTick } from './plan.ts'
import type { NextRun } from './ticker.ts'
import type { DeviceCounts, View } from './view.ts'

export type PlacementOptions = {
  db: Database
  logger: Logger
  owned: OwnedShards
  shards: number
  capacity: number
  timeouts: WorkerTimeouts
  tickMs: number
  publishShardsChanged: () => Promise<void>
}

export type Polled = Pick<View, 'workers' | 'unowned'>

export type Placement = {
  poll(): Promise<Polled>
  /** Plans this tick and carries the plan out. Says when the next poll is due. */
  apply(registration: Registration, polled: Polled): Promise<NextRun>
  /** Shards without an owner because no worker has room for their devices. */
  readonly unplaced: number
  /** Shards of this worker with more linked devices than a worker may have. */
  readonly oversized: number
}

/** Brings the shards of this worker to its share, by the plans of `planTick`. */
export function makePlacement(options: PlacementOptions): Placement {
  const { db, logger, owned, shards, capacity, timeouts, tickMs, publishShardsChanged } = options
  const warn = makePlacementWarnings({ logger, capacity })
  let memory = emptyMemory
  let unplaced = 0

  const viewOf = ({ workerId }: Registration, polled: Polled): View => ({
    ...polled,
    nowMs: performance.now(),
    selfId: workerId,
    owned: owned.list(),
    shards,
    capacity,
    tickMs,
  })

  const oversizedOf = (shards: { shard: number; linked: number }[]) =>
    shards.filter(({ linked }) => linked > capacity)

  async function planFor(view: View, registration: Registration, polled: Polled): Promise<Plan> {
    if (!needsDeviceCounts(view, memory)) return planTick(view, memory, Math.random)
    const deviceCounts = await countDevices(db)
    return planTick({ ...viewOf(registration, polled), deviceCounts }, memory, Math.random)
  }

  /** Returns how many shards other workers claimed first. */
  async function claim(registration: Registration, chosen: number[], { unowned }: Polled): Promise<number> {
    if (chosen.length === 0) return 0
    const claimed = await claimShards(db, registration.workerId, chosen)
    if (claimed.length > 0) {
      logger.info({ shards: claimed.length }, 'Claimed shards')
      memory = afterClaim(memory, { nowMs: performance.now(), tickMs })
      const linkedOf = new Map(unowned.map(({ shard, linked }) => [shard, linked]))
      // Not awaited: it takes seconds on a busy machine, and other workers may die in the meantime.
      void owned.add(
        claimed.map((lease) => ({ ...lease, linked: linkedOf.get(lease.shard) ?? 0 })),
        registration,
      )
    }
    return chosen.length - claimed.length
  }

  async function release({ workerId }: Registration, chosen: number[]): Promise<void> {
    if (chosen.length === 0) return
    const leaving = owned.list().filter(({ shard }) => chosen.includes(shard))
    await owned.stopReleased(chosen)
    await releaseShards(db, workerId, leaving)
    await publishShardsChanged()
    logger.info({ shards: chosen.length }, 'Released shards to under-loaded workers')
  }

  return {
    get unplaced() {
      return unplaced
    },
    get oversized() {
      return oversizedOf(owned.list()).length
    },

    async poll() {
      const [workers, unowned] = await Promise.all([listLiveWorkers(db, timeouts), listUnownedShards(db)])
      return { workers, unowned }
    },

    async apply(registration, polled) {
      const view = viewOf(registration, polled)
      warn.ofOversized(oversizedOf(view.owned))
      const plan = await planFor(view, registration, polled)
      memory = plan.memory
      unplaced = plan.unplaced
      warn.ofUnplaced(unplaced)
      const lost = await claim(registration, plan.claim, polled)
      await release(registration, plan.release)
      const pollsAgain = plan.retriesLostClaims && lost > 0
      return { nextInMs: pollsAgain ? 0 : plan.nextPollMs, restMs: plan.restMs }
    },
  }
}

async function countDevices(db: Database): Promise<Map<string, DeviceCounts>> {
  const rows = await countLinkedDevicesByOwner(db)
  return new Map(rows.map(({ owner, ...counts }) => [owner, counts]))
}

const everyMs = 60_000

type PlacementWarnings = {
  ofOversized(shards: { shard: number; linked: number }[]): void
  ofUnplaced(shards: number): void
}

/** Logs each of them once a minute at most. */
function makePlacementWarnings(options: { logger: Logger; capacity: number }): PlacementWarnings {
  const { logger, capacity } = options
  const isOversizedDue = makeThrottle()
  const isUnplacedDue = makeThrottle()
  return {
    ofOversized(shards) {
      if (shards.length === 0 || !isOversizedDue()) return
      logger.warn(
        { reason: 'oversized', shards, capacity },
        'A shard has more devices than WORKER_CAPACITY; raise the capacity or the number of shards',
      )
    },
    ofUnplaced(shards) {
      if (shards === 0 || !isUnplacedDue()) return
      logger.warn(
        { reason: 'no_capacity', shards },
        'No worker has capacity for some shards; start another worker',
      )
    },
  }
}

function makeThrottle(): () => boolean {
  let nextAtMs = 0
  return () => {
    const nowMs = performance.now()
    if (nowMs < nextAtMs) return false
    nextAtMs = nowMs + everyMs
    return true
  }
}
