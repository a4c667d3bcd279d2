import type { WhatsAppNetwork } from '@wagate/shared/whatsapp-network'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { advisoryLocks } from './locks.ts'
import { migrationsFolder } from './migrations.ts'
import { claimNetwork } from './queries/installation.ts'
import { buildMessageIndexes } from './queries/message-indexes.ts'
import { ensureMessagePartitions } from './queries/partitions.ts'
import { grantRights } from './rights.ts'
import { readTlsSettings } from './tls.ts'

/**
 * Brings the database to this version, under an advisory lock: several may call it at once.
 * Throws when the installation has another number of shards, or when the network cannot be decided. With
 * `retentionDays`, entries of the audit log can be deleted after that time and not before.
 */
export async function migrate(
  databaseUrl: string,
  options: { shards: number; network?: WhatsAppNetwork; retentionDays?: number },
): Promise<void> {
  const { url, ssl } = readTlsSettings(databaseUrl)
  const client = postgres(url, { ssl, max: 1, onnotice: () => undefined })
  try {
    await client`SELECT pg_advisory_lock(${advisoryLocks.migration})`
    await applyMigrations(drizzle(client), { migrationsFolder })
    await ensureMessagePartitions(client)
    await buildMessageIndexes(client)
    await setShards(client, options.shards)
    const { retentionDays } = options
    if (retentionDays !== undefined) await client`UPDATE installation SET retention_days = ${retentionDays}`
    await grantRights(client)
    if (options.network) await claimNetwork(client, options.network)
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
