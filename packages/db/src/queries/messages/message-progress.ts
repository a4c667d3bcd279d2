import { timeOfMessageId } from '@wagate/shared/ids'
import type { MessageStatus } from '@wagate/shared/statuses'
import type { Database } from '../../client.ts'
import { rows } from '../statements/rows.ts'
import { isCreatedAround } from './message-time.ts'

export type MessageProgress = { status: MessageStatus; error: string | null; errorCode: string | null }

type Wanted = { accountId: number; messageId: string }

/**
 * In the order of the messages. Undefined where the account has no such message. Found by the id alone, as in
 * message-history.ts.
 */
export async function findMessagesProgress(
  db: Database,
  wanted: Wanted[],
): Promise<(MessageProgress | undefined)[]> {
  const sql = db.$client
  const timesMs = wanted.map(({ messageId }) => timeOfMessageId(messageId))
  const messages = await sql<(MessageProgress & { id: string; accountId: number })[]>`
    SELECT message.id, message.account_id AS "accountId", message.status, message.error,
      message.error_code AS "errorCode"
    FROM ${rows(sql, 'given', wanted, {
      account_id: ['int', ({ accountId }) => accountId],
      id: ['uuid', ({ messageId }) => messageId],
    })}
    JOIN messages AS message ON message.id = given.id AND message.account_id + 0 = given.account_id
    WHERE ${isCreatedAround(sql, timesMs)}`
  const found = new Map(messages.map(({ id, accountId, ...progress }) => [`${accountId} ${id}`, progress]))
  return wanted.map(({ accountId, messageId }) => found.get(`${accountId} ${messageId}`))
}
