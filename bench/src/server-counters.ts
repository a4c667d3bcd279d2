import type { Database } from '@wagate/db/client'
import type { Redis } from 'ioredis'
import { readWalBytes } from './wal-bytes.ts'

/** What the servers have done so far, for all processes. */
export type ServerCounters = { statements: number; redisCommands: number; walBytes: number }

/** Postgres counts what a connection did only once that connection has been idle for 10 s. */
export const countersCoolDownMs = 12_000

/** `statements` are transactions, `redisCommands` includes those inside of scripts. */
export async function readServerCounters(db: Database, redis: Redis): Promise<ServerCounters> {
  const [row] = await db.$client<{ count: number }[]>`
    SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = current_database()`
  return {
    statements: row?.count ?? Number.NaN,
    redisCommands: await readRedisInfo(redis, 'total_commands_processed'),
    walBytes: await readWalBytes(db),
  }
}

export async function readRedisInfo(redis: Redis, field: string): Promise<number> {
  return Number(new RegExp(`${field}:(\\d+)`).exec(await redis.info())?.[1])
}
