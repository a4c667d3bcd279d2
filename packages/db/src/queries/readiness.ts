import type { Database } from '../client.ts'

/** The number of shards that no live worker owns: their messages are accepted and wait. */
export async function countOrphanedShards(db: Database): Promise<number> {
  const [row] = await db.$client<{ orphaned: number }[]>`
    SELECT count(*)::int AS orphaned
    FROM shard_leases AS lease
    WHERE NOT EXISTS (
      SELECT FROM workers
      WHERE id = lease.owner AND state <> 'dead' AND lease_until > now())`
  return row?.orphaned ?? 0
}
