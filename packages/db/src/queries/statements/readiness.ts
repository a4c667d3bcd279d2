import type { Database } from '../../client.ts'
import { isRunning } from './worker-state.ts'

/** The number of shards that no running worker owns. Their messages are accepted and wait. */
export async function countOrphanedShards(db: Database): Promise<number> {
  const sql = db.$client
  const [row] = await sql<{ orphaned: number }[]>`
    SELECT count(*)::int AS orphaned
    FROM shard_leases AS lease
    WHERE NOT EXISTS (
      SELECT FROM workers
      WHERE id = lease.owner AND ${sql.unsafe(isRunning('workers'))})`
  return row?.orphaned ?? 0
}
