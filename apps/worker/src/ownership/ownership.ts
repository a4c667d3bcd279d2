import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@wagate/db/client'
import { countOpeningDevices, type OwnedShard, releaseShards } from '@wagate/db/queries/shard-leases'
import {
  deleteDeadWorkers,
  listLiveWorkers,
  markWorkerDraining,
  unregisterWorker,
} from '@wagate/db/queries/workers'
import type { Logger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { within } from '@wagate/runtime/within'
import { makeHeldShards } from './held-shards.ts'
import type { ShardHolder } from './lease.ts'
import { makeMembership, type Registration, silentHeartbeats } from './membership.ts'
import { cheapestFirst } from './move-order.ts'
import { makePlacement } from './placement.ts'
import { reap, reconcile } from './reconcile.ts'
import { type NextRun, startTicker } from './ticker.ts'
import { chooseWave, waveSize } from './waves.ts'

export type OwnershipOptions = {
  db: Database
  /** Of one connection, for nothing but heartbeats. */
  heartbeatDb: Database
  holder: ShardHolder
  events: {
    publishShardsChanged(): Promise<void>
    onShardsChanged(listener: () => void): () => unknown
  }
  logger: Logger
  name: string
  shards: number
  capacity: number
  /** By which it encrypts; absent when it encrypts nothing. */
  masterKeyId?: string
  leaseTtlMs: number
  heartbeatMs: number
  tickMs: number
}

export type OwnershipState = {
  workerId: string | undefined
  leaseValid: boolean
  ownedShards: number
  linkedDevices: number
  /** Without an owner anywhere, because no worker has room (`no_capacity`). */
  unplacedShards: number
  /** Owned, with more linked devices than a worker may have (`oversized`). */
  oversizedShards: number
}

/** `close` hands everything over: others own the shards a moment later. */
export type Ownership = Running & {
  state(): OwnershipState
  /** A fenced write that carried this lease found another owner. Does nothing when a newer lease is held by now. */
  lose(lease: OwnedShard): void
}

/** A heartbeat that fails is not awaited for a whole period: the lease goes on running out. */
const heartbeatRetryMsMax = 500
const dropMsMax = 5000
/** Of the waves of a hand-over together, and how often to look whether the senders of one are online again. */
const handOverMs = 8000
const waveLookMs = 50
/** With Postgres away every step of the end takes so long. */
const stepMsMax = 2000

/** Returns at once; registers, claims and releases in the background until `close`. */
export function startOwnership(options: OwnershipOptions): Ownership {
  const { db, heartbeatDb, events, logger, leaseTtlMs, heartbeatMs, tickMs } = options
  const patience = { leaseTtlMs, silentMs: heartbeatMs * silentHeartbeats }
  const held = makeHeldShards(options.holder, logger)
  const membership = makeMembership({ ...options, db: heartbeatDb })
  const placement = makePlacement({
    ...options,
    patience,
    held,
    publishShardsChanged: events.publishShardsChanged,
  })
  const heartbeatOutage = makeOutageLog(logger, 'heartbeat')
  const tickOutage = makeOutageLog(logger, 'ownership')

  const ticker = startTicker({ everyMs: tickMs, run: tick, onError: tickOutage.failed })
  const heartbeat = startTicker({
    everyMs: heartbeatMs,
    retryMs: Math.min(heartbeatMs, heartbeatRetryMsMax),
    run: beat,
    onError: heartbeatOutage.failed,
  })
  const leave = events.onShardsChanged(() => ticker.wake())

  async function tick(): Promise<NextRun> {
    await held.dropLost()
    const registration = await join()
    // On one connection they are sent together and carried out in this order.
    const [, , polled] = await Promise.all([
      reconcile(db, registration.workerId, held),
      reap(db, logger, { id: registration.workerId, ...patience }),
      placement.poll(),
    ])
    const next = await placement.apply(registration, polled)
    tickOutage.worked()
    return next
  }

  async function join(): Promise<Registration> {
    const registration = membership.current()
    if (registration && !registration.isDead) return registration
    await deleteDeadWorkers(db)
    return await membership.join()
  }

  async function beat(): Promise<undefined> {
    const registration = membership.current()
    if (!registration || registration.isDead) return
    if (!(await membership.renew())) {
      logger.warn({ workerId: registration.workerId }, 'Marked dead by another worker: drops all shards')
      held.loseAll()
      ticker.wake()
      // Not left to the ticker, which may wait for the database.
      await held.dropLost()
    }
    heartbeatOutage.worked()
  }

  /**
   * In waves: those who take over log the senders of one in while the senders of the next still send here. The next
   * waits for them, within its part of the time. All at once where nobody can take over or be told.
   */
  async function handOver({ workerId }: Registration): Promise<void> {
    let isTold = await attempt('drain', markWorkerDraining(db, workerId))
    const startedAtMs = performance.now()
    const devices = held.linkedDevices()
    let left = held.list()
    while (left.length > 0) {
      const receivers = isTold ? await countOthers(workerId) : 0
      const wave = receivers > 0 ? chooseWave(cheapestFirst(left), waveSize(devices, receivers)) : left
      await within(dropMsMax, held.dropReleased(wave.map(({ shard }) => shard)))
      for (const lease of wave) held.lose(lease)
      isTold = await attempt('release', releaseShards(db, workerId, wave))
      await events.publishShardsChanged()
      left = held.list()
      if (left.length === 0) return
      const gone = 1 - held.linkedDevices() / devices
      await untilOnline(wave, startedAtMs + gone * handOverMs)
    }
  }

  async function untilOnline(wave: { shard: number }[], atLatestMs: number): Promise<void> {
    const shards = wave.map(({ shard }) => shard)
    const areOpening = async () => (await countOpeningDevices(db, shards)) > 0
    do await delay(waveLookMs)
    while (performance.now() < atLatestMs && (await attempt('look', areOpening())))
  }

  /** As far as the database can be asked. */
  async function countOthers(workerId: string): Promise<number> {
    let others = 0
    const look = async () => {
      others = (await listLiveWorkers(db, patience)).filter(({ id }) => id !== workerId).length
    }
    await attempt('look', look())
    return others
  }

  /** False when it fails, takes too long or says so. What cannot be told to the database is left to the end of the lease. */
  async function attempt(step: string, work: Promise<unknown>): Promise<boolean> {
    const failed = (error?: unknown) => {
      logger.warn({ err: error, step }, 'A step of the hand-over failed')
      return false
    }
    const outcome = work.then((answer) => answer !== false, failed)
    return (await within(stepMsMax, outcome)) ?? failed()
  }

  async function stop(): Promise<void> {
    leave()
    await within(stepMsMax, ticker.close())
    held.refuseMore()
    const registration = membership.current()
    if (registration) await handOver(registration)
    await within(stepMsMax, heartbeat.close())
    if (registration) await attempt('unregister', unregisterWorker(db, registration.workerId))
  }

  let stopped: Promise<void> | undefined
  return {
    state: () => ({
      workerId: membership.current()?.workerId,
      leaseValid: membership.current()?.isValid() ?? false,
      ownedShards: held.list().length,
      linkedDevices: held.linkedDevices(),
      unplacedShards: placement.unplaced,
      oversizedShards: placement.oversized,
    }),

    lose({ shard, epoch }) {
      // The last write of a shard that was handed over finds another owner as well.
      if (!held.lose({ shard, epoch })) return
      logger.warn({ shard, epoch }, 'A write found another owner: drops the shard')
      void held.dropLost()
      ticker.wake()
    },

    close() {
      stopped ??= stop()
      return stopped
    },
  }
}
