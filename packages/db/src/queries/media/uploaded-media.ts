import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { advisoryLocks } from '../../locks.ts'
import { iso } from '../statements/iso-time.ts'

/** A file that a caller has uploaded. `sha256` in hex. */
export type NewUpload = {
  mediaId: string
  accountId: number
  mime: string
  filename: string | null
  size: number
  sha256: string
}

export type UploadLimit = 'bytes' | 'files'
type UploadLimits = Record<`${UploadLimit}Max`, number>

/**
 * Records a file that is about to be put in the store, so that it is removed in the end whatever happens. Says which limit
 * the account would exceed with it. Files that are being stored count, and expired ones do not. `disabled`: the account was
 * disabled while the file arrived. `expiresAt` is ISO 8601.
 */
export async function recordUpload(
  db: Database,
  { mediaId, accountId, mime, filename, size, sha256 }: NewUpload,
  { keepHours, ...limits }: UploadLimits & { keepHours: number },
): Promise<{ expiresAt: string } | { full: UploadLimit } | 'disabled'> {
  const expiresAt = iso(db.$client, 'expires_at')
  return db.$client.begin(async (sql) => {
    // The next count of this account sees what this transaction stores.
    await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.uploadsOfAccount}, ${accountId})`
    const full = await findFull(sql, accountId, size, limits)
    if (full) return { full }
    const [row] = await sql<{ expiresAt: string }[]>`
      INSERT INTO uploaded_media (media_id, account_id, expires_at, mime, filename, size, sha256)
      SELECT ${mediaId}, id, now() + ${keepHours}::int * interval '1 hour', ${mime}, ${filename}, ${size},
        decode(${sha256}, 'hex')
      FROM accounts WHERE id = ${accountId} AND disabled_at IS NULL
      RETURNING ${expiresAt} AS "expiresAt"`
    return row ?? 'disabled'
  })
}

/** The limit that the account would exceed with another file of this size. */
export function findFullLimit(
  db: Database,
  accountId: number,
  size: number,
  limits: UploadLimits,
): Promise<UploadLimit | undefined> {
  return findFull(db.$client, accountId, size, limits)
}

async function findFull(
  sql: postgres.ISql,
  accountId: number,
  size: number,
  { bytesMax, filesMax }: UploadLimits,
): Promise<UploadLimit | undefined> {
  const [used] = await sql<{ files: number; bytes: number }[]>`
    SELECT count(*)::int AS files, coalesce(sum(size), 0)::float8 AS bytes FROM uploaded_media
    WHERE account_id = ${accountId} AND expires_at > now()`
  if ((used?.files ?? 0) >= filesMax) return 'files'
  return (used?.bytes ?? 0) + size > bytesMax ? 'bytes' : undefined
}

type UploadId = Pick<NewUpload, 'accountId' | 'mediaId'>

/** The file is in the store. False when housekeeping has given it up. */
export async function setUploadStored(db: Database, { accountId, mediaId }: UploadId): Promise<boolean> {
  const changed = await db.$client`
    UPDATE uploaded_media SET stored_at = now() WHERE media_id = ${mediaId} AND account_id = ${accountId}`
  return changed.count > 0
}

/** It is as if it had expired, for its account and for messages, until housekeeping removes it and its file. */
export async function giveUpUpload(db: Database, { accountId, mediaId }: UploadId): Promise<void> {
  await db.$client`
    UPDATE uploaded_media SET stored_at = NULL, expires_at = now()
    WHERE media_id = ${mediaId} AND account_id = ${accountId}`
}

/** To be called when its file is not in the store, or no longer. */
export async function deleteUpload(db: Database, { accountId, mediaId }: UploadId): Promise<void> {
  await db.$client`DELETE FROM uploaded_media WHERE media_id = ${mediaId} AND account_id = ${accountId}`
}

export type StoredUpload = Pick<NewUpload, 'mime' | 'filename' | 'size' | 'sha256'>

/**
 * A file in the store. Messages that are accepted need one that has not expired, at the time they are to be sent (ISO 8601,
 * null is now). Those that were accepted are sent with it afterwards, too.
 */
export async function findUpload(
  db: Database,
  { accountId, mediaId }: UploadId,
  forMessage: { sendAt: string | null } | 'accepted',
): Promise<StoredUpload | undefined> {
  const sql = db.$client
  const isUsable =
    forMessage === 'accepted'
      ? sql``
      : sql`AND expires_at > greatest(now(), coalesce(${forMessage.sendAt}::timestamptz, now()))`
  const [found] = await sql<StoredUpload[]>`
    SELECT mime, filename, size::float8 AS size, encode(sha256, 'hex') AS sha256 FROM uploaded_media
    WHERE media_id = ${mediaId} AND account_id = ${accountId} AND stored_at IS NOT NULL ${isUsable}`
  return found
}

/** No upload takes as long to be stored. */
export const unfinishedMinutesMax = 60

/**
 * Files that no message needs any more: expired `keptMs` ago, which messages that were accepted in time had for being sent,
 * and those whose process was killed before it had stored them.
 */
export async function listUnneededUploads(
  db: Database,
  { keptMs, max }: { keptMs: number; max: number },
): Promise<(UploadId & { sha256: string })[]> {
  return db.$client<(UploadId & { sha256: string })[]>`
    SELECT account_id AS "accountId", media_id AS "mediaId", encode(sha256, 'hex') AS sha256 FROM uploaded_media
    WHERE expires_at < now() - ${keptMs}::float8 * interval '1 ms'
      OR (stored_at IS NULL AND created_at < now() - ${unfinishedMinutesMax}::int * interval '1 minute')
    LIMIT ${max}`
}

export type ListedUpload = StoredUpload & { mediaId: string; createdAt: string; expiresAt: string }

/** Those in the store, by id. `after`: only those with a higher one. Times are ISO 8601. */
export async function listUploads(
  db: Database,
  accountId: number,
  after: string,
  limit: number,
): Promise<ListedUpload[]> {
  const sql = db.$client
  return sql<ListedUpload[]>`
    SELECT media_id AS "mediaId", mime, filename, size::float8 AS size, encode(sha256, 'hex') AS sha256,
      ${iso(sql, 'created_at')} AS "createdAt", ${iso(sql, 'expires_at')} AS "expiresAt"
    FROM uploaded_media WHERE account_id = ${accountId} AND stored_at IS NOT NULL AND media_id > ${after}::uuid
    ORDER BY media_id LIMIT ${limit}`
}
