import type postgres from 'postgres'

type MissingIndex = {
  parent: string
  partition: string
  name: string
  definition: string
  isLeftover: boolean
}

/**
 * Builds the indexes that a migration declared only on the parent table `messages`, partition by partition. Accepts and
 * sends continue meanwhile, so it takes long on a large history. The next call continues after an interruption.
 */
export async function buildMessageIndexes(sql: postgres.Sql): Promise<void> {
  for (const index of await listMissing(sql)) {
    if (index.isLeftover) await sql.unsafe(`DROP INDEX CONCURRENTLY IF EXISTS ${index.name}`)
    // Outside of a transaction, which CONCURRENTLY requires.
    await sql.unsafe(concurrently(index))
    await sql.unsafe(`ALTER INDEX ${index.parent} ATTACH PARTITION ${index.name}`)
  }
}

function concurrently({ name, partition, definition }: MissingIndex): string {
  const what = definition.slice(definition.indexOf(' USING '))
  return `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${partition}${what}`
}

/** Newest partitions first, because they are read most. `isLeftover`: building it was interrupted. */
async function listMissing(sql: postgres.Sql): Promise<MissingIndex[]> {
  return sql<MissingIndex[]>`
    SELECT parent.relname AS parent, partition.relname AS partition, wanted.name,
      pg_get_indexdef(parent.oid) AS definition,
      coalesce(NOT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(wanted.name)), false) AS "isLeftover"
    FROM pg_index JOIN pg_class AS parent ON parent.oid = indexrelid
    JOIN pg_inherits AS part ON part.inhparent = indrelid
    JOIN pg_class AS partition ON partition.oid = part.inhrelid,
    LATERAL (SELECT partition.relname || replace(parent.relname, 'messages', '') AS name) AS wanted
    WHERE indrelid = 'messages'::regclass AND NOT indisvalid AND NOT EXISTS (
      SELECT FROM pg_inherits AS child JOIN pg_index AS built ON built.indexrelid = child.inhrelid
      WHERE child.inhparent = parent.oid AND built.indrelid = partition.oid)
    ORDER BY partition.relname DESC, parent.relname`
}
