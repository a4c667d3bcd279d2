import type { Database } from '../client.ts'
import { advisoryLocks } from '../locks.ts'

/**
 * One bounded step of a deletion. `next` is where the next step begins; undefined when nothing is left, or when
 * another process is deleting at the moment. Starting there spares walking over what was deleted before.
 */
export type DeletedBatch = { deleted: number; next: string | undefined }

export const beginning = '-infinity'

const rowsMax = 5000
/** With up to 17 MB each. */
const blobsMax = 20
/** With less than a megabyte each. */
const partsMax = 400

export async function deleteExpiredIdempotencyKeys(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, 'idempotency_keys', sql`now() - interval '24 hours'`, after)
}

/** The trigger of the table lets nothing go that is younger than the retention written down at the installation. */
export async function deleteOldAuditEntries(
  db: Database,
  retentionDays: number,
  after: string,
): Promise<DeletedBatch> {
  const sql = db.$client
  const days = sql`greatest(${retentionDays}, (SELECT retention_days FROM installation))`
  return deleteOldRows(db, 'audit_log', sql`now() - ${days} * interval '1 day'`, after)
}

/** What processes that were killed had stored of media of requests. */
export async function deleteLostMediaParts(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  return deleteOldRows(db, 'media_parts', sql`now() - interval '1 hour'`, after, partsMax)
}

async function deleteOldRows(
  db: Database,
  table: 'idempotency_keys' | 'audit_log' | 'media_parts',
  olderThan: ReturnType<Database['$client']>,
  after: string,
  limit = rowsMax,
): Promise<DeletedBatch> {
  const sql = db.$client
  const [row] = await sql<{ deleted: number; last: string | null }[]>`
    WITH turn AS MATERIALIZED (${takeTurn(db)}),
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
 * Media that came with a request and is no longer needed: that of messages that were sent goes with their upload, so
 * this is what failed or was canceled. Media of messages that wait are stepped over.
 */
export async function deleteUnusedMedia(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  const [row] = await sql<{ deleted: number; last: string | null }[]>`
    WITH turn AS MATERIALIZED (${takeTurn(db)}),
    looked AS MATERIALIZED (
      SELECT message_id, created_at FROM media_blobs
      WHERE (SELECT is_ours FROM turn) AND created_at > ${after}::timestamptz
        AND created_at < now() - interval '1 hour'
      ORDER BY created_at LIMIT ${blobsMax}
    ),
    deleted AS (
      DELETE FROM media_blobs AS blob WHERE message_id = ANY (ARRAY(
        SELECT message_id FROM looked
        -- Stored by one statement with its message, so with one now().
        WHERE NOT EXISTS (
          SELECT FROM messages
          WHERE id = looked.message_id AND created_at = looked.created_at AND is_waiting)))
      RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM deleted) AS deleted, max(created_at)::text AS last FROM looked`
  return { deleted: row?.deleted ?? 0, next: row?.last ?? undefined }
}

/** Longer than any token, list of devices or number is of use. A Signal session is written with every message. */
const contactDaysMax = 90

/**
 * What is stored of contacts that a sender has not been in touch with for long. WhatsApp tells it again when it is needed.
 * An identity key and a number stay as long as there is a session with the contact.
 */
export async function deleteUnusedContacts(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  const [deviceId, type, id] =
    after === beginning ? [0, '', ''] : (JSON.parse(after) as [number, string, string])
  const [row] = await sql<{ deleted: number; last: string | null }[]>`
    WITH turn AS MATERIALIZED (${takeTurn(db)}),
    looked AS MATERIALIZED (
      SELECT device_id, type, id, used_on FROM device_auth
      WHERE (SELECT is_ours FROM turn) AND (device_id, type, id) > (${deviceId}::int, ${type}::text, ${id}::text)
      ORDER BY device_id, type, id LIMIT ${rowsMax}
    ),
    unused AS (
      SELECT device_id, type, id FROM looked
      WHERE used_on < CURRENT_DATE - ${contactDaysMax}::int AND (
          type IN ('session', 'tctoken', 'user-devices', 'device-list')
          OR (type = 'identity-key' AND NOT EXISTS (
            SELECT FROM device_auth AS session
            WHERE session.device_id = looked.device_id AND session.type = 'session' AND session.id = looked.id))
          OR (type = 'lid-mapping' AND NOT EXISTS (
            SELECT FROM device_auth AS session
            WHERE session.device_id = looked.device_id AND session.type = 'session'
              AND starts_with(session.id, replace(looked.id, '_reverse', '') || '_'))))
        -- Former versions wrote this list of all contacts.
        OR (type = 'tctoken' AND id = '__index')
    ),
    deleted AS (
      DELETE FROM device_auth AS value USING unused
      WHERE value.device_id = unused.device_id AND value.type = unused.type AND value.id = unused.id
        AND (value.used_on < CURRENT_DATE - ${contactDaysMax}::int OR value.id = '__index')
      RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM deleted) AS deleted,
      (SELECT jsonb_build_array(device_id, type, id)::text FROM looked
        ORDER BY device_id DESC, type DESC, id DESC LIMIT 1) AS last`
  return { deleted: row?.deleted ?? 0, next: row?.last ?? undefined }
}

/** All workers clean, but one at a time, and for one short statement. */
const takeTurn = (db: Database) => db.$client`
  SELECT pg_try_advisory_xact_lock(${advisoryLocks.housekeeping}) AS is_ours`
