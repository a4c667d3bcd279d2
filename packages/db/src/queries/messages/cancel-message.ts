import { timeOfMessageId } from '@wagate/shared/ids'
import type { Database } from '../../client.ts'
import { insertMessageEvents } from '../statements/event-rows.ts'
import { isAcceptedBy } from './accepted-moves.ts'
import { isCreatedAround } from './message-time.ts'
import { withEntry } from './timeline-entries.ts'

/**
 * Cancels a queued message and deletes the media that came with it. False when it is not queued. An owner marks a message
 * as `sending` before it sends it, so only one of the two succeeds.
 */
export async function cancelMessage(db: Database, accountId: number, messageId: string): Promise<boolean> {
  const sql = db.$client
  const canceled = await sql`
    WITH found AS MATERIALIZED (
      SELECT id, created_at FROM messages
      WHERE account_id = ${accountId} AND id = ${messageId} AND ${isCreatedAround(sql, [timeOfMessageId(messageId)])}
    ),
    canceled AS (
      UPDATE messages AS message SET status = 'canceled', timeline = ${sql.unsafe(withEntry('message', 'canceled'))}
      FROM found WHERE message.id = found.id AND message.created_at = found.created_at
        AND ${isAcceptedBy(sql, 'cancel')}
      RETURNING message.id, account_id, device_id
    ),
    announced AS (${insertMessageEvents(sql, 'message.canceled', 'canceled')}),
    dropped AS (DELETE FROM media_blobs USING canceled WHERE message_id = canceled.id)
    SELECT id FROM canceled`
  return canceled.length > 0
}
