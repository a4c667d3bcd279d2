import type postgres from 'postgres'
import { advisoryLocks } from '../../locks.ts'
import { readClockMs } from './clock.ts'

/** Both are partitioned by week of `created_at`. */
export type PartitionedTable = 'messages' | 'events'

const tables: PartitionedTable[] = ['messages', 'events']

const dayMs = 86_400_000
const weekMs = 7 * dayMs
const weeksAhead = 8
/** A statement that waits for a lock on the table blocks accepts and sends, so give up soon and retry later. */
const lockTimeout = '1s'
/**
 * Messages: room on every page, so that updates of their status need not change the indexes. No event changes. Events: not
 * analyzed until there are some. For a few, Postgres plans to read and sort all, and keeps this plan while thousands follow.
 */
const storage = {
  messages: 'WITH (fillfactor = 80)',
  events: 'WITH (autovacuum_analyze_threshold = 1000)',
}
/** Marks tables that `dropOldPartitions` has detached, so that tables which operators archived are kept. */
const dropMark = 'wagate: detached, to be dropped'

/**
 * Creates missing weekly partitions, from last week (clocks differ) to 8 weeks ahead, the nearest first and each in its own
 * transaction. A week within a longer partition is not missing. Tries all of them before it throws.
 */
export async function ensurePartitions(sql: postgres.Sql): Promise<void> {
  const thisWeek = Math.floor((await readClockMs(sql)) / weekMs)
  const partitions = await listPartitions(sql)
  const errors: unknown[] = []
  for (let week = thisWeek - 1; week <= thisWeek + weeksAhead; week++) {
    const startsAtMs = week * weekMs
    const endsAtMs = startsAtMs + weekMs
    const from = new Date(startsAtMs).toISOString()
    const to = new Date(endsAtMs).toISOString()
    for (const table of tables) {
      const name = `${table}_${from.slice(0, 10).replaceAll('-', '')}`
      const isThere = partitions.some(
        (one) =>
          one.name === name ||
          (one.table === table && !one.isPending && one.startsAtMs <= startsAtMs && one.endsAtMs >= endsAtMs),
      )
      if (!isThere) await createPartition(sql, table, { name, from, to }).catch((error) => errors.push(error))
    }
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, 'Could not create partitions', { cause: errors[0] })
  }
}

async function createPartition(
  sql: postgres.Sql,
  table: PartitionedTable,
  { name, from, to }: { name: string; from: string; to: string },
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    await tx`SELECT pg_advisory_xact_lock(${advisoryLocks.partitions})`
    // Another process may have created it while this one waited.
    if ((await listPartitionsOf(tx, table)).some((partition) => partition.name === name)) return
    // Attached, because creating it in place would wait for statements that read or write the table.
    await tx.unsafe(`
      CREATE TABLE IF NOT EXISTS ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING GENERATED) ${storage[table]}`)
    await tx.unsafe(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`)
  })
}

/**
 * For how many whole weeks from now messages can be stored with their events. 0 when only the present partitions exist, -1
 * when none can be stored now.
 */
export async function countPartitionWeeksAhead(sql: postgres.Sql): Promise<number> {
  const nowMs = await readClockMs(sql)
  const partitions = await listPartitions(sql)
  return Math.min(
    ...tables.map((table) =>
      countWeeks(
        partitions.filter((partition) => partition.table === table),
        nowMs,
      ),
    ),
  )
}

function countWeeks(partitions: Partition[], nowMs: number): number {
  let untilMs = nowMs
  for (const { startsAtMs, endsAtMs, isPending } of partitions.toSorted(
    (a, b) => a.startsAtMs - b.startsAtMs,
  )) {
    if (!isPending && startsAtMs <= untilMs) untilMs = Math.max(untilMs, endsAtMs)
  }
  return untilMs === nowMs ? -1 : Math.floor((untilMs - nowMs) / weekMs)
}

/** Whether rows of this past time were dropped with their partition. */
export async function wasDropped(sql: postgres.Sql, table: PartitionedTable, atMs: number): Promise<boolean> {
  if (atMs >= (await readClockMs(sql))) return false
  const partitions = await listPartitionsOf(sql, table)
  return !partitions.some(
    ({ startsAtMs, endsAtMs, isPending }) => !isPending && startsAtMs <= atMs && atMs < endsAtMs,
  )
}

/**
 * Drops the partitions that ended more than `retentionDays` ago and hold no waiting message. Each is detached concurrently,
 * so accepts and sends continue even while other transactions read messages. That waits for older transactions. If it
 * takes too long, the next call finishes it.
 */
export async function dropOldPartitions(
  sql: postgres.Sql,
  table: PartitionedTable,
  retentionDays: number,
): Promise<string[]> {
  const endedBeforeMs = (await readClockMs(sql)) - retentionDays * dayMs
  const dropped: string[] = []
  for (const { name, endsAtMs, isPending } of await listPartitionsOf(sql, table)) {
    if (endsAtMs >= endedBeforeMs) continue
    if (!isPending && table === 'messages' && (await holdsWaiting(sql, name))) continue
    await detach(sql, table, name, isPending)
    await dropDetached(sql, name)
    dropped.push(name)
  }
  for (const name of await listDetached(sql)) {
    await dropDetached(sql, name)
    dropped.push(name)
  }
  return dropped
}

async function holdsWaiting(sql: postgres.Sql, name: string): Promise<boolean> {
  const rows = await sql.unsafe(`
    (SELECT 1 FROM ${name} WHERE is_waiting AND send_at IS NULL LIMIT 1)
    UNION ALL (SELECT 1 FROM ${name} WHERE is_waiting AND send_at IS NOT NULL LIMIT 1)`)
  return rows.length > 0
}

/** Outside of a transaction: CONCURRENTLY uses two, and an interruption after the first one needs FINALIZE. */
async function detach(
  sql: postgres.Sql,
  table: PartitionedTable,
  name: string,
  isPending: boolean,
): Promise<void> {
  if (!isPending) await withLockTimeout(sql, `COMMENT ON TABLE ${name} IS '${dropMark}'`)
  await sql.unsafe(`ALTER TABLE ${table} DETACH PARTITION ${name} ${isPending ? 'FINALIZE' : 'CONCURRENTLY'}`)
}

async function dropDetached(sql: postgres.Sql, name: string): Promise<void> {
  await withLockTimeout(sql, `DROP TABLE IF EXISTS ${name}`)
}

async function withLockTimeout(sql: postgres.Sql, statement: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    await tx.unsafe(statement)
  })
}

/** `isPending`: detaching it was interrupted. */
type Partition = {
  table: PartitionedTable
  name: string
  startsAtMs: number
  endsAtMs: number
  isPending: boolean
}

async function listPartitionsOf(sql: postgres.ISql, table: PartitionedTable): Promise<Partition[]> {
  return (await listPartitions(sql)).filter((partition) => partition.table === table)
}

/** Of both tables. */
export async function listPartitions(sql: postgres.ISql): Promise<Partition[]> {
  const bound = (keyword: string) => sql`
    extract(epoch FROM substring(
      pg_get_expr(relpartbound, oid) FROM ${keyword} || ' [(]''([^'']+)''[)]')::timestamptz)::float8 * 1000`
  // Pending ones come first: no other partition can be detached before them.
  return sql<Partition[]>`
    SELECT inhparent::regclass::text AS table, quote_ident(relname) AS name, inhdetachpending AS "isPending",
      ${bound('FROM')} AS "startsAtMs", ${bound('TO')} AS "endsAtMs"
    FROM pg_class JOIN pg_inherits ON inhrelid = oid
    WHERE relkind = 'r' AND inhparent = ANY (${tables}::regclass[])
    ORDER BY inhdetachpending DESC, relname`
}

/** Tables that were detached by a process that ended before it dropped them. */
async function listDetached(sql: postgres.ISql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT quote_ident(relname) AS name FROM pg_class
    WHERE relkind = 'r' AND NOT relispartition AND obj_description(oid, 'pg_class') = ${dropMark}
      AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'messages'::regclass)`
  return rows.map(({ name }) => name)
}
