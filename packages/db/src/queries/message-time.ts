import { timeOfMessageId } from '@wagate/shared/ids'
import { type SQL, sql } from 'drizzle-orm'
import type postgres from 'postgres'
import { messages } from '../schema/messages.ts'

/*
 * Message ids carry the time of the process that generated them. A day on either side allows for its clock, and
 * limits a search to the partitions in which the messages can be.
 */

/** For the query builder. */
export function createdAround(...messageIds: string[]): SQL {
  const timesMs = messageIds.map(timeOfMessageId)
  const at = (ms: number) => sql`to_timestamp(${ms}::float8 / 1000)`
  return sql`${messages.createdAt} BETWEEN ${at(Math.min(...timesMs))} - interval '1 day' AND ${at(Math.max(...timesMs))} + interval '1 day'`
}

/** `message`: the name of the messages in the SQL. Without it, only they have a column `created_at`. */
export function isCreatedAround(client: postgres.Sql, timesMs: number[], message?: string) {
  const at = (ms: number) => client`to_timestamp(${ms / 1000}::float8)`
  const createdAt = client.unsafe(message ? `${message}.created_at` : 'created_at')
  return client`${createdAt} BETWEEN ${at(Math.min(...timesMs))} - interval '1 day' AND ${at(Math.max(...timesMs))} + interval '1 day'`
}
