import type postgres from 'postgres'
import { type Columns, rows } from './rows.ts'

/** Part of every write of an owner: the write takes effect only while this worker owns the shard with this epoch. */
export type Fence = { shard: number; workerId: string; epoch: number }

/** A fenced write was refused. Close the sockets of the shard, write nothing more, and do not log out. */
export class OwnershipLost extends Error {
  readonly shard: number
  /** Of the lease under which the write was made. The worker may own the shard again by now, with a newer epoch. */
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
 * FOR SHARE lets writes of one shard run concurrently, and makes a takeover wait for them.
 */
export function fenceOf(sql: postgres.ISql, { shard, workerId, epoch }: Fence) {
  return sql`
    SELECT shard FROM shard_leases
    WHERE shard = ${shard} AND owner = ${workerId} AND epoch = ${epoch}
    FOR SHARE`
}

/** Returns what the statement returns. Throws `OwnershipLost` when a fenced statement returns no row. */
export async function expectOwner<Rows extends readonly unknown[]>(
  fence: Fence,
  statement: PromiseLike<Rows>,
): Promise<Rows> {
  const returned = await statement
  if (returned.length === 0) throw new OwnershipLost(fence)
  return returned
}

/** Identifies a lease. In SQL: `shard || ' ' || epoch`. */
export function leaseKey({ shard, epoch }: Pick<Fence, 'shard' | 'epoch'>): string {
  return `${shard} ${epoch}`
}

/** An error for each write whose lease is not among the keys of those that are valid. */
export function lostWrites(
  writes: readonly { fence: Fence }[],
  valid: readonly string[],
): (OwnershipLost | undefined)[] {
  const validLeases = new Set(valid)
  return writes.map(({ fence }) => (validLeases.has(leaseKey(fence)) ? undefined : new OwnershipLost(fence)))
}

/**
 * The leases (`shard`, `epoch`, and `died_epochs` of earlier owners) of those fences that hold. A batched write joins its
 * rows with them USING (shard, epoch) and drops the others. If it joined by shard alone, a late write of an earlier lease
 * would pass together with a write of the present lease.
 */
export function fencesOf(sql: postgres.Sql, given: readonly Fence[]) {
  // Many writes of a batch have the same fence, and each shard must be in the result once.
  const fences = [...new Map(given.map((fence) => [leaseKey(fence), fence])).values()]
  // Locked in the order of the shards: statements that lock in different orders could deadlock.
  return sql`
    SELECT lease.shard, lease.epoch, lease.died_epoch || lease.died_epochs AS died_epochs
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
