import { timeOfMessageId } from '@wagate/shared/ids'
import { type SQL, sql } from 'drizzle-orm'
import type postgres from 'postgres'
import { messages } from '../../schema/messages.ts'

/*
 * Message ids carry the time of the process that generated them. A day on either side allows for its clock, and
 * limits a search to the partitions in which the messages can be.
 */

const dayMs = 86_400_000
/** An id that a caller has made up may tell a later one, which Postgres does not read as ISO 8601. */
const latestMs = Date.UTC(9999, 11, 31)

/** For the query builder. */
export function createdAround(messageId: string): SQL {
  const { first, last } = limitsAround([timeOfMessageId(messageId)])
  return sql`${messages.createdAt} BETWEEN ${first}::timestamptz AND ${last}::timestamptz`
}

/** ISO 8601, for statements that are planned each time: a plan for few partitions takes a tenth of the time. */
export function limitsAround(timesMs: number[]): { first: string; last: string } {
  const textOf = (ms: number) => new Date(Math.min(ms, latestMs)).toISOString()
  return { first: textOf(Math.min(...timesMs) - dayMs), last: textOf(Math.max(...timesMs) + dayMs) }
}

/**
 * `message`: the name of the messages in the SQL. Without it, only they have a column `created_at`. The planner does not
 * know these limits, so a plan for given values is no cheaper than one for all, which Postgres then keeps.
 *
 * Only in a SELECT that locks nothing, if need be in a MATERIALIZED step before the write: Postgres 18 loses an UPDATE that
 * has excluded partitions at its start and then waits for another transaction which changes the same row.
 */
export function isCreatedAround(client: postgres.Sql, timesMs: number[], message?: string) {
  const at = (ms: number) => client`to_timestamp(${ms / 1000}::float8)`
  const createdAt = client.unsafe(message ? `${message}.created_at` : 'created_at')
  return client`${createdAt} BETWEEN ${at(Math.min(...timesMs))} - interval '1 day' AND ${at(Math.max(...timesMs))} + interval '1 day'`
}
