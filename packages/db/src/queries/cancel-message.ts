import { and, eq, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { messages } from '../schema.ts'
import { createdAround } from './created-around.ts'

/**
 * Cancels a message that waits, and forgets the media that came with it. False when it does not wait: an owner
 * marks what it is about to send as `sending`, so that of the two exactly one finds the row as it expects.
 */
export async function cancelMessage(db: Database, accountId: number, messageId: string): Promise<boolean> {
  const canceled = await db.execute(sql`
    WITH canceled AS (
      UPDATE ${messages} SET status = 'canceled'
      WHERE ${and(
        eq(messages.accountId, accountId),
        eq(messages.id, messageId),
        createdAround(messageId),
        eq(messages.status, 'queued'),
      )}
      RETURNING id
    ),
    dropped AS (DELETE FROM media_blobs USING canceled WHERE message_id = canceled.id)
    SELECT id FROM canceled`)
  return canceled.length > 0
}
