import type { WhatsAppNetwork } from '@wagate/shared/whatsapp-network'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { advisoryLocks } from './locks.ts'
import { migrationsFolder } from './migrations.ts'
import { endUnsteadyEpoch, restoreEventEpochs } from './queries/events/event-epoch.ts'
import { buildMessageIndexes } from './queries/messages/message-indexes.ts'
import { claimNetwork, initializeShards, setRetention } from './queries/statements/installation.ts'
import { ensurePartitions } from './queries/statements/partitions.ts'
import { grantRights } from './rights.ts'
import { readTlsSettings } from './tls.ts'

/**
 * Migrates the database to this version, under an advisory lock, so that several processes may call it at the same time. Throws when
 * the installation has another number of shards, or when its network cannot be determined. Entries of the audit log
 * cannot be deleted before `retentionDays`.
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
    await ensurePartitions(client)
    await buildMessageIndexes(client)
    await initializeShards(client, options.shards)
    await restoreEventEpochs(client)
    await endUnsteadyEpoch(client)
    const { retentionDays } = options
    if (retentionDays !== undefined) await setRetention(client, retentionDays)
    await grantRights(client)
    if (options.network) await claimNetwork(client, options.network)
  } finally {
    await client.end()
  }
}
