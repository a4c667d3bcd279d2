import type { Database } from '../client.ts'

/** Throws when the installation has another number of shards, or when the database was not migrated. */
export async function checkShards(db: Database, shards: number): Promise<void> {
  const [row] = await db.$client<{ shards: number }[]>`SELECT shards FROM installation`
  if (row?.shards === shards) return
  throw new Error(
    `This database was installed with ${row?.shards ?? 'no'} shards, SHARDS says ${shards}. Set SHARDS to ${row?.shards}.`,
  )
}
