import type postgres from 'postgres'

/** Ms since 1970 by the clock of Postgres, which decides when messages are due. That of a process may be wrong. */
export async function readClockMs(sql: postgres.ISql): Promise<number> {
  const [row] = await sql<{ nowMs: number }[]>`SELECT extract(epoch FROM now())::float8 * 1000 AS "nowMs"`
  if (!row) throw new Error('Postgres returned no time')
  return row.nowMs
}
