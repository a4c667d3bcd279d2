import type { Database } from '@wagate/db/client'
import {
  describeShardsOwnedBy,
  freeShardsOfDeadWorkers,
  type OwnedShard,
  parseShards,
  releaseShards,
} from '@wagate/db/queries/workers/shard-leases'
import { markGoneWorkersDead, type WorkerTimeouts } from '@wagate/db/queries/workers/workers'
import type { Logger } from '@wagate/runtime/logger'
import type { OwnedShards } from './owned-shards.ts'

/**
 * Makes this process and the database agree. A shard that is owned here but not there is lost. One that is owned there
 * but not here (the claim got no answer, or the shard was stopped as lost) is released, so that it can be claimed again.
 */
export async function reconcile(db: Database, workerId: string, owned: OwnedShards): Promise<void> {
  const description = await describeShardsOwnedBy(db, workerId)
  if (description === owned.description()) return
  const leases = new Map(parseShards(description).map((lease) => [lease.shard, lease]))
  const strays: OwnedShard[] = []
  for (const lease of owned.list()) {
    if (leases.get(lease.shard)?.epoch !== lease.epoch) owned.lose(lease)
  }
  await owned.stopLost()
  const inUse = new Set(owned.list().map(({ shard }) => shard))
  for (const lease of leases.values()) if (!inUse.has(lease.shard)) strays.push(lease)
  if (strays.length > 0) await releaseShards(db, workerId, strays)
}

/** Marks workers dead that are gone and frees their shards, which are claimed later by statements of their own. */
export async function reap(
  db: Database,
  logger: Logger,
  reaper: { id: string } & WorkerTimeouts,
): Promise<void> {
  const [dead, freed] = await Promise.all([markGoneWorkersDead(db, reaper), freeShardsOfDeadWorkers(db)])
  for (const { id, name, isPastLease } of dead) {
    logger.warn(
      { workerId: id, name },
      isPastLease ? 'Lease of a worker has expired' : 'Process of a worker has ended',
    )
  }
  if (freed > 0) logger.info({ freed }, 'Freed the shards of dead workers')
}
