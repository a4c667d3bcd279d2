import type postgres from 'postgres'

/**
 * Begins a new epoch of events when the database is on another server or timeline of Postgres than before: after a restore,
 * transaction ids may begin anew, and events would no longer be in order. No event is being inserted meanwhile, so all
 * events of earlier epochs are visible from then on.
 */
export async function ensureEventEpoch(client: postgres.Sql): Promise<void> {
  const [found] = await client<{ server: string; known: string | null }[]>`
    SELECT system_identifier || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS server,
      event_server AS known
    FROM pg_control_system(), installation`
  if (!found || found.server === found.known) return
  await client.begin(async (sql) => {
    await sql`SET LOCAL lock_timeout = '5s'`
    await sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`
    // A dump may be older than the last epoch that subscribers have seen. The time is not.
    const [row] = await sql<{ epoch: number }[]>`
      UPDATE installation SET event_server = ${found.server},
        event_epoch = greatest(event_epoch + 1, extract(epoch FROM clock_timestamp())::int)
      RETURNING event_epoch AS epoch`
    await sql.unsafe(`ALTER TABLE events ALTER COLUMN epoch SET DEFAULT ${Number(row?.epoch)}`)
  })
}
