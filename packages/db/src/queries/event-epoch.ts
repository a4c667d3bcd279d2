import type postgres from 'postgres'

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
