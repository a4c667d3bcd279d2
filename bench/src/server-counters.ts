import type { Database } from '@wagate/db/client'
import type { Redis } from 'ioredis'
import { readWalBytes } from '../wal-bytes.ts'

/** What the servers have done so far, for all processes. */
export type Counters = { statements: number; redisCommands: number; walBytes: number }

/** Postgres counts what a connection did only once that connection has been idle for 10 s. */
export const countersCoolDownMs = 12_000

/** `statements` are transactions, `redisCommands` includes those inside of scripts. */
export async function readCounters(db: Database, redis: Redis): Promise<Counters> {
  const [row] = await db.$client<{ count: number }[]>`
    SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = current_database()`
  const found = /total_commands_processed:(\d+)/.exec(await redis.info('stats'))
  return {
    statements: row?.count ?? Number.NaN,
    redisCommands: Number(found?.[1]),
    walBytes: await readWalBytes(db),
  }
}
