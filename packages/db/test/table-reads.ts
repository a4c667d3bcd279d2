import type { Database } from '../src/client.ts'

/** `isScanCounted`: also rows that are read without an index. */
type Counted = { table: 'messages' | 'events'; isScanCounted: boolean }

/** How many index entries the work reads. Postgres uses a generic plan after five executions. */
export async function countReads(
  db: Database,
  work: () => Promise<unknown>,
  counted: Counted = { table: 'messages', isScanCounted: false },
): Promise<number> {
  for (let n = 0; n < 7; n++) await work()
  const before = await sumReads(db, counted)
  await work()
  return (await sumReads(db, counted)) - before
}

async function sumReads(db: Database, { table, isScanCounted }: Counted): Promise<number> {
  await db.$client`SELECT pg_stat_force_next_flush()`
  await db.$client`SELECT pg_stat_clear_snapshot()`
  const ofTable = `${table}%`
  const [row] = await db.$client<{ entries: number; rows: number }[]>`
    SELECT (SELECT sum(idx_tup_read)::float8 FROM pg_stat_user_indexes WHERE relname LIKE ${ofTable}) AS entries,
      (SELECT sum(seq_tup_read)::float8 FROM pg_stat_user_tables WHERE relname LIKE ${ofTable}) AS rows`
  return (row?.entries ?? 0) + (isScanCounted ? (row?.rows ?? 0) : 0)
}

/** How many pages of the indexes of messages the work looks at. */
export async function countIndexPages(db: Database, work: () => Promise<unknown>): Promise<number> {
  for (let n = 0; n < 7; n++) await work()
  const before = await sumIndexPages(db)
  await work()
  return (await sumIndexPages(db)) - before
}

async function sumIndexPages(db: Database): Promise<number> {
  await db.$client`SELECT pg_stat_force_next_flush()`
  await db.$client`SELECT pg_stat_clear_snapshot()`
  const [row] = await db.$client<{ pages: number }[]>`
    SELECT sum(idx_blks_hit + idx_blks_read)::float8 AS pages FROM pg_statio_user_indexes WHERE relname LIKE 'messages%'`
  return row?.pages ?? 0
}
