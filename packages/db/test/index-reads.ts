import type { Database } from '../src/client.ts'

/** How many index entries of messages the work reads. Postgres uses a generic plan after five executions. */
export async function countIndexReads(db: Database, work: () => Promise<unknown>): Promise<number> {
  for (let n = 0; n < 7; n++) await work()
  const before = await readIndexReads(db)
  await work()
  return (await readIndexReads(db)) - before
}

async function readIndexReads(db: Database): Promise<number> {
  await db.$client`SELECT pg_stat_force_next_flush()`
  await db.$client`SELECT pg_stat_clear_snapshot()`
  const [row] = await db.$client<{ read: number }[]>`
    SELECT sum(idx_tup_read)::float8 AS read FROM pg_stat_user_indexes WHERE relname LIKE 'messages%'`
  return row?.read ?? 0
}
