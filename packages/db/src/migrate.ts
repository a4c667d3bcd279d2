import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { migrationsFolder } from './migrations.ts'
import { ensureMessagePartitions } from './queries/partitions.ts'

const advisoryLock = 7_767_428

/**
 * Brings the database to this version, under an advisory lock: several may call it at once.
 * Throws when the installation has another number of shards.
 */
export async function migrate(databaseUrl: string, options: { shards: number }): Promise<void> {
  const client = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    await client`SELECT pg_advisory_lock(${advisoryLock})`
    await applyMigrations(drizzle(client), { migrationsFolder })
    await ensureMessagePartitions(client)
    await setShards(client, options.shards)
  } finally {
    await client.end()
  }
}

async function setShards(client: postgres.Sql, shards: number): Promise<void> {
  await client`INSERT INTO installation (id, shards) VALUES (1, ${shards}) ON CONFLICT DO NOTHING`
  await client`
    INSERT INTO shard_leases (shard)
    SELECT generate_series(0, shards - 1) FROM installation
    ON CONFLICT DO NOTHING`
  const [row] = await client<{ shards: number }[]>`SELECT shards FROM installation`
  if (row?.shards !== shards) {
    throw new Error(
      `This database was installed with ${row?.shards} shards, SHARDS says ${shards}. Set SHARDS to ${row?.shards}.`,
    )
  }
}
