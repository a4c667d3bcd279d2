import { timeOfMessageId } from '@wagate/shared/ids'
import { type SQL, sql } from 'drizzle-orm'
import { messages } from '../schema.ts'

/** Ids carry the clock of the process that made them: a day on either side spares most partitions. */
export function createdAround(messageId: string): SQL {
  const madeAt = sql`to_timestamp(${timeOfMessageId(messageId)}::float8 / 1000)`
  return sql`${messages.createdAt} BETWEEN ${madeAt} - interval '1 day' AND ${madeAt} + interval '1 day'`
}
