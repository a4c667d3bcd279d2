import type { Database } from '@wagate/db/client'
import type { SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import type { OwnedShard } from '@wagate/db/queries/workers/shard-leases'
import { deleteDeadWorkers, listLiveWorkers, unregisterWorker } from '@wagate/db/queries/workers/workers'
import type { Logger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { within } from '@wagate/runtime/within'
import { makeAttempt, stepMsMax } from './attempt.ts'
import { handOver } from './hand-over.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { ShardHost } from './lease.ts'
import { type Membership, makeMembership, type Registration, silentHeartbeats } from './membership.ts'
import { makeOwnedShards, type OwnedShards } from './owned-shards.ts'
import { makePlacement, type Placement, type Polled } from './placement.ts'
import { restTicks } from './plan.ts'
import { reap, reconcile } from './reconcile.ts'
import { startTicker } from './ticker.ts'
import { isSettled } from './view.ts'

export type OwnershipOptions = {
  db: Database
  /** A pool of one connection, for heartbeats only. */
  heartbeatDb: Database
  host: ShardHost
  events: {
    publishShardsChanged(): Promise<void>
    onShardsChanged(listener: () => void): () => unknown
  }
  logger: Logger
  name: string
  shards: number
  capacity: number
  /** The key it encrypts with; absent when it encrypts nothing. */
  masterKeyId?: string
  /** In which it writes Signal sessions; absent when it writes none. */
  signalFormat?: SignalFormat
  leaseTtlMs: number
  heartbeatMs: number
  tickMs: number
}

export type OwnershipState = {
  workerId: string | undefined
  leaseValid: boolean
  ownedShards: number
  linkedDevices: number
  /** Without any owner, because no worker has room (`no_capacity`). */
  unplacedShards: number
  /** Owned, with more linked devices than a worker may have (`oversized`). */
  oversizedShards: number
}

/** `close` hands everything over to the other workers. */
export type Ownership = Running & {
  state(): OwnershipState
  /** A fenced write with this lease was refused. Does nothing when a newer lease is owned by now. */
  lose(lease: OwnedShard): void
}

/** While all is settled, only a draining worker without shards could be marked dead. */
const reapEveryTicks = 10

/** Returns at once; registers, claims and releases in the background until `close`. */
export function startOwnership(options: OwnershipOptions): Ownership {
  const { db, heartbeatDb, events, logger, shards, leaseTtlMs, heartbeatMs, tickMs } = options
  const { publishShardsChanged } = events
  const timeouts = { leaseTtlMs, silentMs: heartbeatMs * silentHeartbeats }
  const owned = makeOwnedShards(options.host, logger)
  const membership = makeMembership({ ...options, db: heartbeatDb })
  const placement = makePlacement({ ...options, timeouts, owned, publishShardsChanged })
  const attempt = makeAttempt(logger)
  const outage = makeOutageLog(logger, 'ownership')
  let restsUntilMs = 0

  /** On one connection, statements that start together are sent together and carried out in this order. */
  async function poll({ workerId }: Registration): Promise<Polled> {
    if (performance.now() < restsUntilMs) {
      const [, workers] = await Promise.all([reconcile(db, workerId, owned), listLiveWorkers(db, timeouts)])
      if (isSettled({ shards, workers })) return { workers, unowned: [] }
    }
    const [, , polled] = await Promise.all([
      reconcile(db, workerId, owned),
      reap(db, logger, { id: workerId, ...timeouts }),
      placement.poll(),
    ])
    const isResting = isSettled({ shards, workers: polled.workers })
    restsUntilMs = isResting ? performance.now() + reapEveryTicks * tickMs : 0
    return polled
  }

  const ticker = startTicker({
    everyMs: restTicks * tickMs,
    retryMs: tickMs,
    onError: outage.failed,
    async run() {
      await owned.stopLost()
      const registration = await join(membership, options)
      const next = await placement.apply(registration, await poll(registration))
      outage.worked()
      return next
    },
  })
  const heartbeat = startHeartbeat({ logger, membership, owned, heartbeatMs, onDead: () => ticker.wake() })
  const unsubscribe = events.onShardsChanged(() => {
    restsUntilMs = 0
    ticker.wake()
  })

  async function stop(): Promise<void> {
    unsubscribe()
    await within(stepMsMax, ticker.close())
    owned.refuseMore()
    const registration = membership.current()
    if (registration) await handOver(registration, { db, owned, timeouts, publishShardsChanged, attempt })
    await within(stepMsMax, heartbeat.close())
    if (registration) await attempt('unregister', unregisterWorker(db, registration.workerId))
  }

  let stopped: Promise<void> | undefined
  return {
    state: () => stateOf(membership, owned, placement),

    lose({ shard, epoch }) {
      // The last write of a shard that was handed over is refused as well.
      if (!owned.lose({ shard, epoch })) return
      logger.warn({ shard, epoch }, 'Fenced write rejected; stopping the shard')
      void owned.stopLost()
      ticker.wake()
    },

    close() {
      stopped ??= stop()
      return stopped
    },
  }
}

async function join(
  membership: Membership,
  { db, events }: Pick<OwnershipOptions, 'db' | 'events'>,
): Promise<Registration> {
  const registration = membership.current()
  if (registration && !registration.isDead) return registration
  await deleteDeadWorkers(db)
  const joined = await membership.join()
  // Not awaited: it waits for Redis.
  void events.publishShardsChanged()
  return joined
}

function stateOf(membership: Membership, owned: OwnedShards, placement: Placement): OwnershipState {
  return {
    workerId: membership.current()?.workerId,
    leaseValid: membership.current()?.isValid() ?? false,
    ownedShards: owned.list().length,
    linkedDevices: owned.linkedDevices(),
    unplacedShards: placement.unplaced,
    oversizedShards: placement.oversized,
  }
}
