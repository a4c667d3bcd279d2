import type { Database } from '../../client.ts'

type MediaPart = { accountId: number; uploadId: string; position: number; bytes: Buffer }

/** Stores a part of the media of a message that is about to be accepted. Parts are joined in the order of `position`. */
export async function storeMediaPart(
  db: Database,
  { accountId, uploadId, position, bytes }: MediaPart,
): Promise<void> {
  await db.$client`
    INSERT INTO media_parts (account_id, upload_id, position, bytes)
    VALUES (${accountId}, ${uploadId}, ${position}, ${bytes})`
}

/** After the message was accepted or refused. Housekeeping deletes the parts of processes that were killed. */
export async function deleteMediaParts(
  db: Database,
  { accountId, uploadId }: Pick<MediaPart, 'accountId' | 'uploadId'>,
): Promise<void> {
  await db.$client`DELETE FROM media_parts WHERE upload_id = ${uploadId} AND account_id = ${accountId}`
}

/** Whether the account's waiting media may grow by `bytes`. */
export async function hasRoomForMedia(
  db: Database,
  { accountId, bytes, bytesMax }: { accountId: number; bytes: number; bytesMax: number },
): Promise<boolean> {
  const [used] = await db.$client<{ bytes: string }[]>`
    SELECT bytes FROM media_usage WHERE account_id = ${accountId}`
  return Number(used?.bytes ?? 0) + bytes <= bytesMax
}

/** Read by one statement. Housekeeping deletes the rest. */
const blobsMax = 1000

/**
 * Deletes media of the account whose messages failed or were canceled, so that an account at its limit need not wait for
 * the next housekeeping. False when there is none.
 */
export async function deleteEndedMedia(db: Database, accountId: number): Promise<boolean> {
  const sql = db.$client
  const deleted = await sql`
    WITH scanned AS MATERIALIZED (
      SELECT message_id, created_at FROM media_blobs
      WHERE account_id = ${accountId} ORDER BY created_at LIMIT ${blobsMax}
    )
    DELETE FROM media_blobs WHERE message_id = ANY (ARRAY(
      SELECT message_id FROM scanned
      -- Stored by one statement with its message, so with one now().
      WHERE NOT EXISTS (
        SELECT FROM messages
        WHERE id = scanned.message_id AND created_at = scanned.created_at AND is_waiting)))
    RETURNING message_id`
  return deleted.length > 0
}
