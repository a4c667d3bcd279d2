import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { advisoryLocks } from '../../locks.ts'
import { contactDays } from '../contacts/contacts.ts'
import {
  historyChatType,
  pollSecretType,
  textSecretType,
  tokenHolderType,
} from '../credentials/device-auth.ts'
import { idempotencyWindowStart } from '../statements/idempotency-window.ts'

/**
 * One limited step of a deletion. `next` is where the next step begins, so that it does not read deleted rows again. It is
 * undefined when nothing is left, or while another process is deleting.
 */
export type DeletedBatch = { deleted: number; next: string | undefined }

export const beginning = '-infinity'

const rowsMax = 5000
/** Each has up to 17 MB. */
const blobsMax = 20
/** Each has less than a megabyte. */
const partsMax = 400

export async function deleteExpiredIdempotencyKeys(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, 'idempotency_keys', sql.unsafe(idempotencyWindowStart), after)
}

/** Deletes nothing within the retention of the installation, which a trigger of the table would refuse. */
export async function deleteOldAuditEntries(
  db: Database,
  retentionDays: number,
  after: string,
): Promise<DeletedBatch> {
  const sql = db.$client
  const days = sql`greatest(${retentionDays}, (SELECT retention_days FROM installation))`
  return deleteOldRows(db, 'audit_log', sql`now() - ${days} * interval '1 day'`, after)
}

/** Parts of media whose process was killed before it accepted the message. */
export async function deleteLostMediaParts(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, 'media_parts', sql`now() - interval '1 hour'`, after, partsMax)
}

/** New contacts that no longer count. */
export async function deleteOldNewContacts(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, 'new_contacts', sql`now() - ${contactDays} * interval '1 day'`, after)
}

/** Removed devices whose new contacts no longer count for another device of the same sender. */
export async function deleteFormerDevices(db: Database): Promise<DeletedBatch> {
  const sql = db.$client
  const deleted = await sql`
    WITH turn AS MATERIALIZED (${tryLock(db)})
    DELETE FROM devices WHERE id = ANY (ARRAY(
      SELECT id FROM devices
      WHERE (SELECT is_ours FROM turn) AND removed_at < now() - ${contactDays} * interval '1 day' LIMIT ${rowsMax}))`
  return { deleted: deleted.count, next: deleted.count < rowsMax ? undefined : beginning }
}

/** A year and a month: a month can be compared with the same one a year before. */
const countedDays = 400

export async function deleteOldMessageCounts(db: Database): Promise<DeletedBatch> {
  const sql = db.$client
  const deleted = await sql`
    WITH turn AS MATERIALIZED (${tryLock(db)})
    DELETE FROM message_counts WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM message_counts
      WHERE (SELECT is_ours FROM turn) AND day < (now() AT TIME ZONE 'UTC')::date - ${countedDays}::int
      ORDER BY day LIMIT ${rowsMax}
      FOR UPDATE SKIP LOCKED))`
  return { deleted: deleted.count, next: deleted.count < rowsMax ? undefined : beginning }
}

/** Kept for a day after they expire, so that a person who opens one late is told why it does not work. */
export async function deleteOldPairingLinks(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, 'pairing_links', sql`now() - interval '1 day'`, after)
}

/** Links of mails, with the email addresses of people who have not made an account. */
export async function deleteExpiredMailedLinks(db: Database): Promise<DeletedBatch> {
  const sql = db.$client
  const deleted = await sql`
    WITH turn AS MATERIALIZED (${tryLock(db)})
    DELETE FROM mailed_links WHERE id = ANY (ARRAY(
      SELECT id FROM mailed_links WHERE (SELECT is_ours FROM turn) AND expires_at < now() LIMIT ${rowsMax}))`
  return { deleted: deleted.count, next: deleted.count < rowsMax ? undefined : beginning }
}

/** Of writes that nobody repeats any more. */
export async function deleteOldWriteKeys(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, 'write_keys', sql`now() - interval '1 day'`, after)
}

/** Of senders that have not been connected since. */
export async function deleteOldReadRequests(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, 'read_requests', sql`now() - interval '30 days'`, after)
}

/** Deliveries and attempts of webhooks whose events retention may have removed. */
export async function deleteOldWebhookRows(
  db: Database,
  table: 'webhook_attempts' | 'webhook_deliveries',
  eventRetentionDays: number,
  after: string,
): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, table, sql`now() - ${eventRetentionDays} * interval '1 day'`, after)
}

async function deleteOldRows(
  db: Database,
  table:
    | 'idempotency_keys'
    | 'audit_log'
    | 'media_parts'
    | 'new_contacts'
    | 'pairing_links'
    | 'read_requests'
    | 'webhook_attempts'
    | 'webhook_deliveries'
    | 'write_keys',
  olderThan: postgres.PendingQuery<postgres.Row[]>,
  after: string,
  limit = rowsMax,
): Promise<DeletedBatch> {
  const sql = db.$client
  const [row] = await sql<{ deleted: number; last: string | null }[]>`
    WITH turn AS MATERIALIZED (${tryLock(db)}),
    old AS MATERIALIZED (
      SELECT ctid, created_at FROM ${sql(table)}
      WHERE (SELECT is_ours FROM turn) AND created_at >= ${after}::timestamptz AND created_at < ${olderThan}
      ORDER BY created_at LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ),
    deleted AS (DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(SELECT ctid FROM old)) RETURNING 1)
    SELECT (SELECT count(*)::int FROM deleted) AS deleted, max(created_at)::text AS last FROM old`
  return { deleted: row?.deleted ?? 0, next: row?.last ?? undefined }
}

/**
 * Media that came with a request whose message failed or was canceled. After an upload it is deleted at once. Media of
 * waiting messages stays.
 */
export async function deleteUnusedMedia(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  const [row] = await sql<{ deleted: number; last: string | null }[]>`
    WITH turn AS MATERIALIZED (${tryLock(db)}),
    scanned AS MATERIALIZED (
      SELECT message_id, created_at FROM media_blobs
      WHERE (SELECT is_ours FROM turn) AND created_at > ${after}::timestamptz
        AND created_at < now() - interval '1 hour'
      ORDER BY created_at LIMIT ${blobsMax}
    ),
    deleted AS (
      DELETE FROM media_blobs AS blob WHERE message_id = ANY (ARRAY(
        SELECT message_id FROM scanned
        -- Stored by one statement with its message, so with one now().
        WHERE NOT EXISTS (
          SELECT FROM messages
          WHERE id = scanned.message_id AND created_at = scanned.created_at AND is_waiting)))
      RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM deleted) AS deleted, max(created_at)::text AS last FROM scanned`
  return { deleted: row?.deleted ?? 0, next: row?.last ?? undefined }
}

/** Longer than a token, a device list or a number remains useful. Every message writes the Signal session. */
const contactDaysMax = 90

/**
 * Stored data of contacts that a sender has not been in touch with for 90 days. WhatsApp provides it again when it is
 * needed. An identity key and a number stay while a session with the contact exists. Secrets for edits are deleted after
 * `secretDays`.
 */
export async function deleteUnusedContacts(
  db: Database,
  secretDays: number,
  after: string,
): Promise<DeletedBatch> {
  const sql = db.$client
  const [deviceId, type, id] =
    after === beginning ? [0, '', ''] : (JSON.parse(after) as [number, string, string])
  const [row] = await sql<{ deleted: number; last: string | null }[]>`
    WITH turn AS MATERIALIZED (${tryLock(db)}),
    scanned AS MATERIALIZED (
      SELECT device_id, type, id, used_on FROM device_auth
      WHERE (SELECT is_ours FROM turn) AND (device_id, type, id) > (${deviceId}::int, ${type}::text, ${id}::text)
      ORDER BY device_id, type, id LIMIT ${rowsMax}
    ),
    unused AS (
      SELECT device_id, type, id FROM scanned
      WHERE used_on < CURRENT_DATE - ${contactDaysMax}::int AND (
          type IN ('session', 'sender-key', 'tctoken', ${tokenHolderType}, ${historyChatType}, ${pollSecretType}, 'user-devices', 'device-list')
          OR (type = 'identity-key' AND NOT EXISTS (
            SELECT FROM device_auth AS session
            WHERE session.device_id = scanned.device_id AND session.type = 'session' AND session.id = scanned.id))
          OR (type = 'lid-mapping' AND NOT EXISTS (
            SELECT FROM device_auth AS session
            WHERE session.device_id = scanned.device_id AND session.type = 'session'
              AND starts_with(session.id, replace(scanned.id, '_reverse', '') || '_'))
            -- That of a number: it is worth as much as the one of its LID.
            AND NOT EXISTS (
              SELECT FROM devices JOIN contacts ON contacts.account_id = devices.account_id AND contacts.number = scanned.id
              JOIN device_auth AS session ON session.device_id = scanned.device_id AND session.type = 'session'
                AND starts_with(session.id, split_part(contacts.lid_jid, '@', 1) || '_')
              WHERE devices.id = scanned.device_id)))
        OR (type = ${textSecretType} AND used_on < CURRENT_DATE - ${secretDays}::int)
        -- Earlier versions stored this list of all contacts.
        OR (type = 'tctoken' AND id = '__index')
    ),
    deleted AS (
      DELETE FROM device_auth AS value USING unused
      WHERE value.device_id = unused.device_id AND value.type = unused.type AND value.id = unused.id
        AND (value.used_on < CURRENT_DATE - ${contactDaysMax}::int OR value.id = '__index'
          OR (value.type = ${textSecretType} AND value.used_on < CURRENT_DATE - ${secretDays}::int))
      RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM deleted) AS deleted,
      (SELECT jsonb_build_array(device_id, type, id)::text FROM scanned
        ORDER BY device_id DESC, type DESC, id DESC LIMIT 1) AS last`
  return { deleted: row?.deleted ?? 0, next: row?.last ?? undefined }
}

/** All workers run housekeeping, one short statement of one worker at a time. */
export const tryLock = (db: Database) => db.$client`
  SELECT pg_try_advisory_xact_lock(${advisoryLocks.housekeeping}) AS is_ours`
