import type { Database } from '@wagate/db/client'

/** What autovacuum would do eventually. Like autovacuum, it does not analyze partitioned tables. */
export async function vacuumTables(sql: Database['$client']): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
  // One table at a time, because a connection that is silent for long counts as dead.
  for (const { name } of tables) await sql.unsafe(`VACUUM ANALYZE ${name}`)
}
