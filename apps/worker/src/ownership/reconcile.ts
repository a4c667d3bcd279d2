import type { Database } from '@wagate/db/client'
import {
  freeShardsOfDeadWorkers,
  listShardsOwnedBy,
  type OwnedShard,
  releaseShards,
} from '@wagate/db/queries/shard-leases'
import { markGoneWorkersDead, type WorkerTimeouts } from '@wagate/db/queries/workers'
import type { Logger } from '@wagate/shared/logger'
import type { HeldShards } from './held-shards.ts'

/**
 * Makes what is held and what the database says the same: held but owned by another is lost; owned but not
 * held (a claim whose answer never came, a shard dropped as lost) is given back, to be claimed anew.
 */
export async function reconcile(db: Database, workerId: string, held: HeldShards): Promise<void> {
  const owned = new Map((await listShardsOwnedBy(db, workerId)).map((lease) => [lease.shard, lease]))
  const strays: OwnedShard[] = []
  for (const lease of held.list()) {
    if (owned.get(lease.shard)?.epoch !== lease.epoch) held.lose(lease)
  }
  await held.dropLost()
  const inUse = new Set(held.list().map(({ shard }) => shard))
  for (const lease of owned.values()) if (!inUse.has(lease.shard)) strays.push(lease)
  if (strays.length > 0) await releaseShards(db, workerId, strays)
}

/** Takes the shards of workers away that are gone. Their claims come afterwards, as a statement of their own. */
export async function reap(
  db: Database,
  logger: Logger,
  reaper: { id: string } & WorkerTimeouts,
): Promise<void> {
  const [dead, freed] = await Promise.all([markGoneWorkersDead(db, reaper), freeShardsOfDeadWorkers(db)])
  for (const { id, name, isPastLease } of dead) {
    logger.warn({ workerId: id, name }, isPastLease ? 'A worker is past its lease' : 'A worker has died')
  }
  if (freed > 0) logger.info({ freed }, 'The shards of dead workers are free')
}
