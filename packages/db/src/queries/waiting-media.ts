import type { Database } from '../client.ts'

/** Looked at in one statement. Housekeeping finds the rest. */
const blobsMax = 1000

/**
 * Deletes media of the account whose messages have ended without an upload, so that an account which is out of room
 * need not wait for the next housekeeping. False when there is none.
 */
export async function deleteEndedMedia(db: Database, accountId: number): Promise<boolean> {
  const deleted = await db.$client`
    WITH looked AS MATERIALIZED (
      SELECT message_id, created_at FROM media_blobs
      WHERE account_id = ${accountId} ORDER BY created_at LIMIT ${blobsMax}
    )
    DELETE FROM media_blobs WHERE message_id = ANY (ARRAY(
      SELECT message_id FROM looked
      -- Stored by one statement with its message, so with one now().
      WHERE NOT EXISTS (
        SELECT FROM messages
        WHERE id = looked.message_id AND created_at = looked.created_at AND is_waiting)))
    RETURNING message_id`
  return deleted.length > 0
}
