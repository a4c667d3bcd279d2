import type { Database } from '../src/client.ts'

/** `isScanCounted`: also rows that are read without an index. */
type Counted = { table: 'messages' | 'events'; isScanCounted: boolean }

/** How many index entries the work reads. */
export function countReads(
  db: Database,
  work: () => Promise<unknown>,
  counted: Counted = { table: 'messages', isScanCounted: false },
): Promise<number> {
  return countIncrease(work, () => sumReads(db, counted))
}

/** How many pages of the indexes of messages the work reads. */
export function countIndexPages(db: Database, work: () => Promise<unknown>): Promise<number> {
  return countIncrease(work, () => sumIndexPages(db))
}

/** Postgres uses a generic plan after five executions. */
async function countIncrease(work: () => Promise<unknown>, sum: () => Promise<number>): Promise<number> {
  for (let n = 0; n < 7; n++) await work()
  const before = await sum()
  await work()
  return (await sum()) - before
}

async function sumReads(db: Database, { table, isScanCounted }: Counted): Promise<number> {
  await refreshStatistics(db)
  const ofTable = `${table}%`
  const [row] = await db.$client<{ entries: number; rows: number }[]>`
    SELECT (SELECT sum(idx_tup_read)::float8 FROM pg_stat_user_indexes WHERE relname LIKE ${ofTable}) AS entries,
      (SELECT sum(seq_tup_read)::float8 FROM pg_stat_user_tables WHERE relname LIKE ${ofTable}) AS rows`
  return (row?.entries ?? 0) + (isScanCounted ? (row?.rows ?? 0) : 0)
}

async function sumIndexPages(db: Database): Promise<number> {
  await refreshStatistics(db)
  const [row] = await db.$client<{ pages: number }[]>`
    SELECT sum(idx_blks_hit + idx_blks_read)::float8 AS pages FROM pg_statio_user_indexes WHERE relname LIKE 'messages%'`
  return row?.pages ?? 0
}

async function refreshStatistics(db: Database): Promise<void> {
  await db.$client`SELECT pg_stat_force_next_flush()`
  await db.$client`SELECT pg_stat_clear_snapshot()`
}
