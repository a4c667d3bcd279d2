import type { MediaState, MediaUnavailableReason } from '@wagate/shared/received-media'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { advisoryLocks } from '../../locks.ts'

/** What is known of the file of a message. `sha256` in hex. */
export type MediaFacts = {
  state: MediaState
  reason: MediaUnavailableReason | null
  mime: string | null
  filename: string | null
  size: number | null
  sha256: string | null
}

/** Not that of a message that the contact has deleted. */
export async function findMedia(
  db: Database,
  accountId: number,
  messageId: string,
): Promise<MediaFacts | undefined> {
  const [found] = await db.$client<MediaFacts[]>`
    SELECT state, reason, mime, filename, size::float8 AS size, encode(sha256, 'hex') AS sha256
    FROM received_media WHERE account_id = ${accountId} AND message_id = ${messageId} AND created_at > 'epoch'`
  return found
}

type Content = { accountId: number; sha256: string }

/** Until the end of the transaction, nobody else removes the file of this content, or records that it is stored. */
export async function lockContent(sql: postgres.ISql, { accountId, sha256 }: Content): Promise<void> {
  // The store may take longer than a transaction may usually be idle. Without the lock, a slow removal could remove a file
  // that was stored meanwhile.
  await sql`SET LOCAL idle_in_transaction_session_timeout = '60s'`
  await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.mediaContent}, hashtext(${`${accountId} ${sha256}`}))`
}

/** Messages whose files are older than the retention, and those of each that share one file. Oldest first. */
export async function listExpiredContents(
  db: Database,
  { retentionDays, max }: { retentionDays: number; max: number },
): Promise<Content[]> {
  return db.$client<Content[]>`
    SELECT account_id AS "accountId", encode(sha256, 'hex') AS sha256 FROM (
      SELECT account_id, sha256 FROM received_media
      WHERE state <> 'unavailable' AND created_at < now() - ${retentionDays}::int * interval '1 day'
      ORDER BY created_at LIMIT ${max}
    ) AS expired GROUP BY account_id, sha256`
}

/**
 * Records that the messages of a content that are older than the retention have no file any more. `remove` is called before
 * when no other message needs it. After a crash in between, the messages expire again.
 */
export async function expireContent(
  db: Database,
  { accountId, sha256 }: Content,
  retentionDays: number,
  remove: () => Promise<void>,
): Promise<void> {
  await db.$client.begin(async (sql) => {
    await lockContent(sql, { accountId, sha256 })
    const ofContent = sql`account_id = ${accountId} AND sha256 = decode(${sha256}, 'hex') AND state <> 'unavailable'`
    const age = sql`now() - ${retentionDays}::int * interval '1 day'`
    const [needed] = await sql`SELECT FROM received_media WHERE ${ofContent} AND created_at >= ${age} LIMIT 1`
    if (!needed) await remove()
    await sql`
      UPDATE received_media SET state = 'unavailable', reason = 'expired', sealed = NULL, next_attempt_at = NULL
      WHERE ${ofContent} AND created_at < ${age}`
  })
}

/** Of messages that are older than the retention of messages. Returns how many. */
export async function deleteOldMediaRows(
  db: Database,
  { retentionDays, max }: { retentionDays: number; max: number },
): Promise<number> {
  const deleted = await db.$client`
    DELETE FROM received_media WHERE message_id = ANY (ARRAY(
      SELECT message_id FROM received_media
      -- The others still need their files to be removed.
      WHERE state = 'unavailable' AND created_at < now() - ${retentionDays}::int * interval '1 day'
      ORDER BY created_at LIMIT ${max}))`
  return deleted.count
}

/** A file in the store. `sha256` in hex. */
export type StoredContent = { sha256: string; mime: string; size: number; filename: string | null }

/** The files of received messages, each once, by their SHA-256. */
export async function listStoredContents(
  db: Database,
  accountId: number,
  after: string,
  limit: number,
): Promise<StoredContent[]> {
  return db.$client<StoredContent[]>`
    SELECT DISTINCT ON (sha256) encode(sha256, 'hex') AS sha256, mime, size::float8 AS size, filename
    FROM received_media
    WHERE account_id = ${accountId} AND state = 'stored' AND state <> 'unavailable' AND sha256 > decode(${after}, 'hex')
    ORDER BY sha256 LIMIT ${limit}`
}
