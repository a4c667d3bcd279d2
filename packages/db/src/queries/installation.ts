import type { WhatsAppNetwork } from '@wagate/shared/whatsapp-network'
import type postgres from 'postgres'
import type { Database } from '../client.ts'
import { newestMigration } from '../migrations.ts'

/** What a process is configured for, which must agree with what is written down in the database. */
export type ExpectedInstallation = { shards: number; network: WhatsAppNetwork }

/** Throws when the process does not fit the installation. The message says what to do. */
export async function checkInstallation(db: Database, expected: ExpectedInstallation): Promise<void> {
  const problem = await findInstallationProblem(db, expected)
  if (problem) throw new Error(problem)
}

/** Why a process must not work with this database, and what to do about it; undefined when it may. */
export async function findInstallationProblem(
  db: Database,
  expected: ExpectedInstallation,
): Promise<string | undefined> {
  const found = await readInstallation(db)
  if (!found || found.migratedTo < newestMigration()) {
    return 'The database is not migrated to this version. Run the migration of this version first (docs/operations.md).'
  }
  if (found.shards !== expected.shards) {
    return `This database was installed with ${found.shards} shards, SHARDS says ${expected.shards}. Set SHARDS to ${found.shards}.`
  }
  if (found.network !== null && found.network !== expected.network) {
    return (
      `The senders of this database are linked on the network "${found.network}", WHATSAPP_NETWORK says ` +
      `"${expected.network}". Nothing was changed. Set WHATSAPP_NETWORK to "${found.network}", or give this process a database of its own.`
    )
  }
  return undefined
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
 * Writes the network down in an installation that has none yet. Senders that an earlier version linked are taken for
 * live ones: the simulator does not know them, and the gateway would wipe their credentials. Throws for it then.
 */
export async function claimNetwork(sql: postgres.Sql, network: WhatsAppNetwork): Promise<void> {
  if ((await readNetwork(sql)) !== null) return
  await sql`
    UPDATE installation SET network = ${network}
    WHERE network IS NULL AND (${network} = 'live' OR NOT EXISTS (SELECT FROM devices WHERE has_credentials))`
  if ((await readNetwork(sql)) !== null) return
  throw new Error(
    'This database has senders that were linked before wagate wrote down their network. Nothing was changed. ' +
      'If they are linked on the simulated network, run "wagate network set simulator". Otherwise set WHATSAPP_NETWORK to "live".',
  )
}

export async function readNetwork(sql: postgres.Sql): Promise<WhatsAppNetwork | null> {
  const [row] = await sql<{ network: WhatsAppNetwork | null }[]>`SELECT network FROM installation`
  return row?.network ?? null
}

/** Senders that are linked on another network than this lose their links when a worker starts. */
export async function setNetwork(sql: postgres.Sql, network: WhatsAppNetwork): Promise<void> {
  await sql`UPDATE installation SET network = ${network}`
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
