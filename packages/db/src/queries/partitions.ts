import type postgres from 'postgres'

const weekMs = 7 * 86_400_000
const weeksAhead = 8

/** Makes the weekly partitions of `messages` that are missing, from last week (clocks differ) to 8 weeks ahead. */
export async function ensureMessagePartitions(sql: postgres.ISql): Promise<void> {
  const [row] = await sql<{ nowMs: number }[]>`SELECT extract(epoch FROM now())::float8 * 1000 AS "nowMs"`
  const thisWeek = Math.floor((row?.nowMs ?? 0) / weekMs)
  const existing = new Set((await listPartitions(sql)).map(({ name }) => name))
  for (let week = thisWeek - 1; week <= thisWeek + weeksAhead; week++) {
    const from = new Date(week * weekMs).toISOString()
    const to = new Date((week + 1) * weekMs).toISOString()
    const name = `messages_${from.slice(0, 10).replaceAll('-', '')}`
    if (existing.has(name)) continue
    // Attached rather than made in place: that waits for no statement that reads or writes messages.
    // With room on every page, so that the updates of a message's status need not touch the indexes.
    await sql.unsafe(`
      CREATE TABLE IF NOT EXISTS ${name} (LIKE messages INCLUDING DEFAULTS INCLUDING GENERATED)
      WITH (fillfactor = 80)`)
    await sql.unsafe(`ALTER TABLE messages ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`)
  }
}

/** Drops the partitions that ended more than `retentionDays` ago, but none that holds an unfinished message. */
export async function dropOldMessagePartitions(sql: postgres.ISql, retentionDays: number): Promise<string[]> {
  const dropped: string[] = []
  for (const { name, endsAt } of await listPartitions(sql)) {
    const [old] = await sql<{ isOver: boolean }[]>`
      SELECT ${endsAt}::timestamptz < now() - ${retentionDays} * interval '1 day' AS "isOver"`
    if (!old?.isOver) continue
    const unfinished = await sql.unsafe(`SELECT 1 FROM ${name} WHERE is_waiting LIMIT 1`)
    if (unfinished.length > 0) continue
    await sql.unsafe(`ALTER TABLE messages DETACH PARTITION ${name}`)
    await sql.unsafe(`DROP TABLE ${name}`)
    dropped.push(name)
  }
  return dropped
}

async function listPartitions(sql: postgres.ISql): Promise<{ name: string; endsAt: string }[]> {
  return sql<{ name: string; endsAt: string }[]>`
    SELECT relname AS name, substring(pg_get_expr(relpartbound, oid) FROM 'TO [(]''([^'']+)''[)]') AS "endsAt"
    FROM pg_class JOIN pg_inherits ON inhrelid = oid
    WHERE inhparent = 'messages'::regclass
    ORDER BY relname`
}
