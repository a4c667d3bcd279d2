import type { WhatsAppNetwork } from '@wagate/shared/whatsapp-network'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { newestMigration } from '../../migrations.ts'
import { isRunning } from './worker-state.ts'

/** What a process is configured for. It must agree with the installation in the database. */
export type ExpectedInstallation = { shards: number; network: WhatsAppNetwork }

/** Throws when the process must not work with this database. The message says what to do. */
export async function checkInstallation(db: Database, expected: ExpectedInstallation): Promise<void> {
  const problem = await findInstallationProblem(db, expected)
  if (problem) throw new Error(problem)
}

/** Why a process must not work with this database, and what to do. Undefined when it may. */
export async function findInstallationProblem(
  db: Database,
  expected: ExpectedInstallation,
): Promise<string | undefined> {
  const found = await readInstallation(db)
  if (!found || found.migratedTo < newestMigration()) {
    return 'The database is not migrated to this version. Run the migration of this version first (docs/operations.md).'
  }
  if (found.shards !== expected.shards) {
    return wrongShards(found.shards, expected.shards)
  }
  if (found.network !== null && found.network !== expected.network) {
    return (
      `The senders of this database are linked on the network "${found.network}", but WHATSAPP_NETWORK is ` +
      `"${expected.network}". Nothing was changed. Set WHATSAPP_NETWORK to "${found.network}", or use another database.`
    )
  }
  return undefined
}

function wrongShards(found: number, expected: number): string {
  return `This database has ${found} shards, but SHARDS is ${expected}. Set SHARDS to ${found}.`
}

/** Undefined when the tables do not exist yet. */
async function readInstallation(
  db: Database,
): Promise<{ shards: number; network: WhatsAppNetwork | null; migratedTo: number } | undefined> {
  try {
    const [row] = await db.$client<{ shards: number; network: WhatsAppNetwork | null; migratedTo: number }[]>`
      SELECT shards, network,
        (SELECT max(created_at) FROM drizzle.__drizzle_migrations)::float8 AS "migratedTo"
      FROM installation`
    return row
  } catch (error) {
    if (missingCodes.has(String((error as { code?: unknown }).code))) return undefined
    throw error
  }
}

/** undefined_table, undefined_column, invalid_schema_name */
const missingCodes = new Set(['42P01', '42703', '3F000'])

/**
 * Records the network of an installation that has none yet. Throws for the simulated network if an earlier version has
 * linked senders. They count as live ones: the simulator would not know them, and their credentials would be wiped.
 */
export async function claimNetwork(sql: postgres.Sql, network: WhatsAppNetwork): Promise<void> {
  if ((await readNetwork(sql)) !== null) return
  await sql`
    UPDATE installation SET network = ${network}
    WHERE network IS NULL AND (${network} = 'live' OR NOT EXISTS (SELECT FROM devices WHERE has_credentials))`
  if ((await readNetwork(sql)) !== null) return
  throw new Error(
    'This database has senders that were linked before wagate recorded their network. Nothing was changed. ' +
      'If they are linked on the simulated network, run "wagate network set simulator". Otherwise set WHATSAPP_NETWORK to "live".',
  )
}

export async function readNetwork(sql: postgres.Sql): Promise<WhatsAppNetwork | null> {
  const [row] = await sql<{ network: WhatsAppNetwork | null }[]>`SELECT network FROM installation`
  return row?.network ?? null
}

/** Senders that are linked on another network lose their links when a worker starts. */
export async function setNetwork(sql: postgres.Sql, network: WhatsAppNetwork): Promise<void> {
  await sql`UPDATE installation SET network = ${network}`
}

/** Signs the links to received media. */
export async function getMediaLinkKey(db: Database): Promise<Buffer> {
  const [row] = await db.$client<{ key: Buffer | null }[]>`SELECT media_link_key AS key FROM installation`
  if (!row?.key) throw new Error('The installation has no key for links to media')
  return row.key
}

/** The number of shards of a new database. Throws when an existing one has another number. */
export async function initializeShards(sql: postgres.Sql, shards: number): Promise<void> {
  await sql`INSERT INTO installation (id, shards) VALUES (1, ${shards}) ON CONFLICT DO NOTHING`
  await sql`
    INSERT INTO shard_leases (shard)
    SELECT generate_series(0, shards - 1) FROM installation
    ON CONFLICT DO NOTHING`
  const [row] = await sql<{ shards: number }[]>`SELECT shards FROM installation`
  if (!row) throw new Error('The installation has no row')
  if (row.shards !== shards) throw new Error(wrongShards(row.shards, shards))
}

/** Entries of the audit log that are younger cannot be deleted. */
export async function setRetention(sql: postgres.Sql, retentionDays: number): Promise<void> {
  await sql`UPDATE installation SET retention_days = ${retentionDays}`
}

/**
 * Changes the number of shards and the shard of every device. Changes nothing while workers run, and returns their names.
 * API processes must not run either, but this does not detect them.
 */
export async function setShards(db: Database, shards: number): Promise<string[]> {
  return db.$client.begin(async (sql) => {
    // The lock keeps a worker that has just started from claiming shards.
    await sql`LOCK TABLE workers, shard_leases, devices IN EXCLUSIVE MODE`
    const running = await sql<{ name: string }[]>`
      SELECT name FROM workers WHERE ${sql.unsafe(isRunning('workers'))} ORDER BY name`
    if (running.length > 0) return running.map(({ name }) => name)
    await sql`UPDATE installation SET shards = ${shards}`
    await sql`UPDATE devices SET shard = id % ${shards}::int`
    await sql`DELETE FROM shard_leases WHERE shard >= ${shards}`
    // The others keep their epochs, so that late writes of former owners are refused.
    await sql`UPDATE shard_leases SET owner = NULL`
    await sql`
      INSERT INTO shard_leases (shard) SELECT generate_series(0, ${shards}::int - 1) ON CONFLICT DO NOTHING`
    return []
  })
}
