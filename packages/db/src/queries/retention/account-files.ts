import type { Database } from '../../client.ts'
import { lockContent } from '../media/media-content.ts'
import { unfinishedMinutesMax } from '../media/uploaded-media.ts'
import { counted } from './account-removal.ts'

/** The file of a received message. `sha256` in hex; null when it never had one. */
export type AccountFile = { messageId: string; accountId: number; sha256: string | null }
export type AccountUpload = { mediaId: string; accountId: number; sha256: string }

/** Rows of one statement. Most belong to other accounts. */
const scannedMax = 10_000

/** A row of received_media. */
export type FilePosition = { at: string; messageId: string }

export const firstFile: FilePosition = { at: '-infinity', messageId: '00000000-0000-0000-0000-000000000000' }

/**
 * Of these accounts, among the next rows after `after`. There is no index by account for files that have expired, so
 * this reads all rows, in steps. `next` is undefined at the end.
 */
export async function scanAccountFiles(
  db: Database,
  accountIds: number[],
  after: FilePosition,
): Promise<{ files: AccountFile[]; next: FilePosition | undefined }> {
  const sql = db.$client
  const [row] = await sql<{ files: AccountFile[]; last: FilePosition | null }[]>`
    WITH scanned AS MATERIALIZED (
      SELECT message_id, account_id, sha256, created_at FROM received_media
      WHERE created_at >= ${after.at}::timestamptz
        AND (created_at, message_id) > (${after.at}::timestamptz, ${after.messageId}::uuid)
      ORDER BY created_at, message_id LIMIT ${scannedMax}
    )
    SELECT coalesce(jsonb_agg(jsonb_build_object('messageId', message_id, 'accountId', account_id,
        'sha256', encode(sha256, 'hex'))) FILTER (WHERE account_id = ANY (${accountIds}::int[])), '[]') AS files,
      (SELECT jsonb_build_object('at', created_at::text, 'messageId', message_id) FROM scanned
        ORDER BY created_at DESC, message_id DESC LIMIT 1) AS last
    FROM scanned`
  return { files: row?.files ?? [], next: row?.last ?? undefined }
}

/** `remove` is called before the row is deleted: after a crash in between, the row makes the file known. */
export async function deleteAccountFile(
  db: Database,
  { messageId, accountId, sha256 }: AccountFile,
  remove: (content: { accountId: number; sha256: string }) => Promise<void>,
): Promise<void> {
  await db.$client.begin(async (sql) => {
    if (sha256 !== null) {
      await lockContent(sql, { accountId, sha256 })
      await remove({ accountId, sha256 })
    }
    await sql`
      WITH gone AS (
        DELETE FROM received_media WHERE message_id = ${messageId} AND account_id = ${accountId} RETURNING 1)
      ${counted(sql, accountId, 'received_files')}`
  })
}

/** Not those that are still being stored: their files may appear later. */
export async function listAccountUploads(
  db: Database,
  accountIds: number[],
  max: number,
): Promise<AccountUpload[]> {
  return db.$client<AccountUpload[]>`
    SELECT media_id AS "mediaId", account_id AS "accountId", encode(sha256, 'hex') AS sha256 FROM uploaded_media
    WHERE account_id = ANY (${accountIds}::int[])
      AND (stored_at IS NOT NULL OR created_at < now() - ${unfinishedMinutesMax}::int * interval '1 minute')
    LIMIT ${max}`
}

/** To be called when its file is not in the store any more. */
export async function deleteAccountUpload(
  db: Database,
  { mediaId, accountId }: AccountUpload,
): Promise<void> {
  const sql = db.$client
  await sql`
    WITH gone AS (
      DELETE FROM uploaded_media WHERE media_id = ${mediaId} AND account_id = ${accountId} RETURNING 1)
    ${counted(sql, accountId, 'uploaded_files')}`
}

/** Reads all rows of files, in steps. */
export async function hasFiles(db: Database, accountId: number): Promise<boolean> {
  const uploads = await db.$client`SELECT FROM uploaded_media WHERE account_id = ${accountId} LIMIT 1`
  if (uploads.length > 0) return true
  for (let next: FilePosition | undefined = firstFile; next; ) {
    const scanned: Awaited<ReturnType<typeof scanAccountFiles>> = await scanAccountFiles(
      db,
      [accountId],
      next,
    )
    if (scanned.files.length > 0) return true
    next = scanned.next
  }
  return false
}
