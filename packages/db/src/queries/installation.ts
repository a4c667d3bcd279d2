import type { Database } from '../client.ts'

/** Throws when the installation has another number of shards, or when the database was not migrated. */
export async function checkShards(db: Database, shards: number): Promise<void> {
  const [row] = await db.$client<{ shards: number }[]>`SELECT shards FROM installation`
  if (row?.shards === shards) return
  throw new Error(
    `This database was installed with ${row?.shards ?? 'no'} shards, SHARDS says ${shards}. Set SHARDS to ${row?.shards}.`,
  )
}

/**
 * Gives the installation another number of shards, and each device its new one. Answers with the names of the workers
 * that still live, if there are any: then nothing is changed. API processes must not run either; they are not seen.
 */
export async function setShards(db: Database, shards: number): Promise<string[]> {
  return db.$client.begin(async (sql) => {
    // No worker that has just started claims anything meanwhile.
    await sql`LOCK TABLE workers, shard_leases, devices IN EXCLUSIVE MODE`
    const alive = await sql<{ name: string }[]>`
      SELECT name FROM workers WHERE state <> 'dead' AND lease_until > now() ORDER BY name`
    if (alive.length > 0) return alive.map(({ name }) => name)
    await sql`UPDATE installation SET shards = ${shards}`
    await sql`UPDATE devices SET shard = id % ${shards}::int`
    await sql`DELETE FROM shard_leases WHERE shard >= ${shards}`
    // The others keep their epochs: what a former owner still wants to write is refused.
    await sql`UPDATE shard_leases SET owner = NULL`
    await sql`
      INSERT INTO shard_leases (shard) SELECT generate_series(0, ${shards}::int - 1) ON CONFLICT DO NOTHING`
    return []
  })
}
