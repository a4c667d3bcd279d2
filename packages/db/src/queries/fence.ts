import type postgres from 'postgres'
import { type Columns, rows } from './rows.ts'

/** What an owner's write carries: it happens only while this worker owns the shard with this epoch. */
export type Fence = { shard: number; workerId: string; epoch: number }

/** A fenced write found another owner. Close what the shard holds, write nothing more, do not log out. */
export class OwnershipLost extends Error {
  readonly shard: number
  /** Of the lease that the write carried: the worker may own the shard again by now, with a newer one. */
  readonly epoch: number

  constructor({ shard, epoch }: Pick<Fence, 'shard' | 'epoch'>) {
    super('Another worker owns this shard')
    this.name = 'OwnershipLost'
    this.shard = shard
    this.epoch = epoch
  }
}

/**
 * One row (`shard`) while the fence holds, none afterwards:
 * `WITH fence AS (${fenceOf(sql, f)}) UPDATE ... FROM fence WHERE ... RETURNING ...`, as one autocommit statement.
 * FOR SHARE: writes of one shard run side by side, a takeover of it waits for those that run.
 */
export function fenceOf(sql: postgres.Sql, { shard, workerId, epoch }: Fence) {
  return sql`
    SELECT shard FROM shard_leases
    WHERE shard = ${shard} AND owner = ${workerId} AND epoch = ${epoch}
    FOR SHARE`
}

/** Tells the leases of one shard apart. In SQL: `shard || ' ' || epoch`. */
export function leaseKey({ shard, epoch }: Pick<Fence, 'shard' | 'epoch'>): string {
  return `${shard} ${epoch}`
}

/**
 * The leases (`shard`, `epoch`, `died_epoch`) of those fences that hold: a batched write joins its rows with them
 * USING (shard, epoch) and drops the others. By shard alone, a late write of an earlier lease would pass beside one of
 * the present lease.
 */
export function fencesOf(sql: postgres.Sql, given: readonly Fence[]) {
  // Many writes of a batch carry the same fence, and each shard is to be in the answer once.
  const fences = [...new Map(given.map((fence) => [leaseKey(fence), fence])).values()]
  // Locked in the order of shards: two that wait for each other's locks would be a deadlock.
  return sql`
    SELECT lease.shard, lease.epoch, lease.died_epoch
    FROM shard_leases AS lease
    JOIN ${rows(sql, 'fence', fences, {
      shard: ['int', ({ shard }) => shard],
      owner: ['uuid', ({ workerId }) => workerId],
      epoch: ['bigint', ({ epoch }) => epoch],
    })} USING (shard, owner, epoch)
    ORDER BY lease.shard
    FOR SHARE OF lease`
}

/** For rows that are joined with `fencesOf` USING (shard, epoch). */
export const leaseColumns: Columns<{ fence: Fence }> = {
  shard: ['int', ({ fence }) => fence.shard],
  epoch: ['bigint', ({ fence }) => fence.epoch],
}
