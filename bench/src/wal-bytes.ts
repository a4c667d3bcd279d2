import type { Database } from '@wagate/db/client'

/** How much Postgres has written to its log so far. */
export async function readWalBytes(db: Database): Promise<number> {
  const [row] = await db.$client<{ bytes: number }[]>`
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`
  return row?.bytes ?? Number.NaN
}
