import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Database } from '@wagate/db/client'

const run = promisify(execFile)

/** Flushes the tables and indexes of messages and events, and evicts them from the page cache of the operating system. */
export async function dropFileCache(sql: Database['$client']): Promise<void> {
  await sql`CHECKPOINT`
  const files = await sql<{ folder: string; path: string }[]>`
    SELECT current_setting('data_directory') AS folder, pg_relation_filepath(oid) AS path FROM pg_class
    WHERE relname ~ '^(messages|events)' AND relkind IN ('r', 'i') AND pg_relation_size(oid) > 0`
  // With count=0 dd copies nothing and only drops the cache.
  const options = ['if=/dev/null', 'count=0', 'oflag=nocache', 'conv=notrunc,fdatasync', 'status=none']
  for (const { folder, path } of files) await run('dd', [...options, `of=${join(folder, path)}`])
}
