import type { Database } from '@wagate/db/client'

/** What autovacuum would do in time. It does not analyze partitioned tables either. */
export async function vacuumTables(sql: Database['$client']): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
  // One after the other: a connection that is silent for long is taken for dead.
  for (const { name } of tables) await sql.unsafe(`VACUUM ANALYZE ${name}`)
}
