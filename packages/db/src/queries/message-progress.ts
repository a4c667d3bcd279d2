import { timeOfMessageId } from '@wagate/shared/ids'
import type { MessageStatus } from '@wagate/shared/statuses'
import type { Database } from '../client.ts'
import { rows } from './rows.ts'

export type MessageProgress = { status: MessageStatus; error: string | null; errorCode: string | null }

type Wanted = { accountId: number; messageId: string }

/** Of each message, in their order; undefined where the account has no such message. */
export async function findMessagesProgress(
  db: Database,
  wanted: Wanted[],
): Promise<(MessageProgress | undefined)[]> {
  const sql = db.$client
  const madeAtMs = wanted.map(({ messageId }) => timeOfMessageId(messageId))
  const messages = await sql<(MessageProgress & { id: string; accountId: number })[]>`
    SELECT message.id, message.account_id AS "accountId", message.status, message.error,
      message.error_code AS "errorCode"
    FROM ${rows(sql, 'given', wanted, {
      account_id: ['int', ({ accountId }) => accountId],
      id: ['uuid', ({ messageId }) => messageId],
    })}
    JOIN messages AS message USING (account_id, id)
    -- Ids carry the clock of the process that made them: a day on either side spares most partitions.
    WHERE message.created_at BETWEEN to_timestamp(${Math.min(...madeAtMs)}::float8 / 1000) - interval '1 day'
      AND to_timestamp(${Math.max(...madeAtMs)}::float8 / 1000) + interval '1 day'`
  const found = new Map(messages.map(({ id, accountId, ...progress }) => [`${accountId} ${id}`, progress]))
  return wanted.map(({ accountId, messageId }) => found.get(`${accountId} ${messageId}`))
}
