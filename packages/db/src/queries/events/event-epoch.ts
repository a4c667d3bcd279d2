import type postgres from 'postgres'

/**
 * Part of the upkeep of an installation. The times of the epoch follow the clock, also while nothing is recorded: cursors of
 * readers that wait for the first event would expire with it.
 */
export async function keepEventEpoch(client: postgres.Sql): Promise<void> {
  await endUnsteadyEpoch(client)
  await client`SELECT event_epoch()`
}

/**
 * Part of a migration. A version from before `event_epochs` that was started on this database has replaced the default by a
 * number, with which events that a crash has followed would be skipped.
 */
export async function restoreEventEpochs(client: postgres.Sql): Promise<void> {
  const [found] = await client`
    SELECT FROM pg_attribute JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = 'events'::regclass AND attname = 'epoch' AND pg_get_expr(adbin, adrelid) = 'event_epoch()'`
  if (found) return
  await client.begin(async (sql) => {
    await sql`SET LOCAL lock_timeout = '5s'`
    await sql`ALTER TABLE events ALTER COLUMN epoch SET DEFAULT event_epoch()`
    await sql`
      INSERT INTO event_epochs (epoch, since, until, is_steady)
      SELECT event_epoch, 'epoch', 'infinity', false FROM installation ON CONFLICT (epoch) DO NOTHING`
    await sql`DELETE FROM event_clock`
  })
}

/**
 * Ends an epoch in which the clock of Postgres went back, as reading it takes longer: the next event begins another one. No
 * event is being inserted meanwhile, so all events of this epoch are visible from then on.
 */
export async function endUnsteadyEpoch(client: postgres.Sql): Promise<void> {
  const [found] = await client`SELECT FROM event_clock JOIN event_epochs USING (epoch) WHERE NOT is_steady`
  if (!found) return
  await client.begin(async (sql) => {
    await sql`SET LOCAL lock_timeout = '5s'`
    await sql`LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE`
    await sql`DELETE FROM event_clock`
  })
}
