import type postgres from 'postgres'
import { advisoryLocks } from '../locks.ts'

const dayMs = 86_400_000
const weekMs = 7 * dayMs
const weeksAhead = 8
/** A statement that waits for a lock on `messages` blocks accepts and sends, so give up soon and retry later. */
const lockTimeout = '1s'
/** Marks tables that `dropOldMessagePartitions` has detached, so that tables which operators archived are kept. */
const dropMark = 'wagate: detached, to be dropped'

/**
 * Creates missing weekly partitions of `messages`, from last week (clocks differ) to 8 weeks ahead, the nearest first and
 * each in its own transaction. Tries all of them before it throws.
 */
export async function ensureMessagePartitions(sql: postgres.Sql): Promise<void> {
  const thisWeek = Math.floor((await findNowMs(sql)) / weekMs)
  const existing = new Set((await listPartitions(sql)).map(({ name }) => name))
  const errors: unknown[] = []
  for (let week = thisWeek - 1; week <= thisWeek + weeksAhead; week++) {
    const from = new Date(week * weekMs).toISOString()
    const to = new Date((week + 1) * weekMs).toISOString()
    const name = `messages_${from.slice(0, 10).replaceAll('-', '')}`
    if (!existing.has(name))
      await createPartition(sql, { name, from, to }).catch((error) => errors.push(error))
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, 'Could not create partitions of messages', { cause: errors[0] })
  }
}

async function createPartition(
  sql: postgres.Sql,
  { name, from, to }: { name: string; from: string; to: string },
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    await tx`SELECT pg_advisory_xact_lock(${advisoryLocks.partitions})`
    // Another process may have created it while this one waited.
    if ((await listPartitions(tx)).some((partition) => partition.name === name)) return
    // Attached, because creating it in place would wait for statements that read or write messages. The fill factor
    // leaves room on every page, so that updates of a message's status need not change the indexes.
    await tx.unsafe(`
      CREATE TABLE IF NOT EXISTS ${name} (LIKE messages INCLUDING DEFAULTS INCLUDING GENERATED)
      WITH (fillfactor = 80)`)
    await tx.unsafe(`ALTER TABLE messages ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`)
  })
}

/**
 * For how many whole weeks from now messages can be stored. 0 when only the present partition exists, -1 when no message
 * can be stored now.
 */
export async function countPartitionWeeksAhead(sql: postgres.Sql): Promise<number> {
  const nowMs = await findNowMs(sql)
  let untilMs = nowMs
  const partitions = [...(await listPartitions(sql))].sort((a, b) => a.startsAtMs - b.startsAtMs)
  for (const { startsAtMs, endsAtMs, isPending } of partitions) {
    if (!isPending && startsAtMs <= untilMs) untilMs = Math.max(untilMs, endsAtMs)
  }
  return untilMs === nowMs ? -1 : Math.floor((untilMs - nowMs) / weekMs)
}

/** Whether messages of this past time were dropped with their partition. */
export async function wasDropped(sql: postgres.Sql, atMs: number): Promise<boolean> {
  if (atMs >= (await findNowMs(sql))) return false
  const partitions = await listPartitions(sql)
  return !partitions.some(
    ({ startsAtMs, endsAtMs, isPending }) => !isPending && startsAtMs <= atMs && atMs < endsAtMs,
  )
}

/**
 * Drops the partitions that ended more than `retentionDays` ago and hold no waiting message. Each is detached concurrently,
 * so accepts and sends continue even while other transactions read messages. That waits for older transactions. If it
 * takes too long, the next call finishes it.
 */
export async function dropOldMessagePartitions(sql: postgres.Sql, retentionDays: number): Promise<string[]> {
  const endedBeforeMs = (await findNowMs(sql)) - retentionDays * dayMs
  const dropped: string[] = []
  for (const { name, endsAtMs, isPending } of await listPartitions(sql)) {
    if (endsAtMs >= endedBeforeMs) continue
    if (!isPending && (await holdsWaiting(sql, name))) continue
    await detach(sql, name, isPending)
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
async function detach(sql: postgres.Sql, name: string, isPending: boolean): Promise<void> {
  if (!isPending) await withLockTimeout(sql, `COMMENT ON TABLE ${name} IS '${dropMark}'`)
  await sql.unsafe(`ALTER TABLE messages DETACH PARTITION ${name} ${isPending ? 'FINALIZE' : 'CONCURRENTLY'}`)
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

async function findNowMs(sql: postgres.ISql): Promise<number> {
  const [row] = await sql<{ nowMs: number }[]>`SELECT extract(epoch FROM now())::float8 * 1000 AS "nowMs"`
  return row?.nowMs ?? 0
}

/** `isPending`: detaching it was interrupted. */
type Partition = { name: string; startsAtMs: number; endsAtMs: number; isPending: boolean }

async function listPartitions(sql: postgres.ISql): Promise<Partition[]> {
  const bound = (keyword: string) => sql`
    extract(epoch FROM substring(
      pg_get_expr(relpartbound, oid) FROM ${keyword} || ' [(]''([^'']+)''[)]')::timestamptz)::float8 * 1000`
  // Pending ones come first: no other partition can be detached before them.
  return sql<Partition[]>`
    SELECT quote_ident(relname) AS name, inhdetachpending AS "isPending",
      ${bound('FROM')} AS "startsAtMs", ${bound('TO')} AS "endsAtMs"
    FROM pg_class JOIN pg_inherits ON inhrelid = oid
    WHERE inhparent = 'messages'::regclass
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
