import type postgres from 'postgres'
import type { Database } from '../client.ts'
import { type Columns, rows } from './rows.ts'

/** What a value belongs to: a row of `device_auth`, or the uploaded content of a message. */
export type AuthKey = { deviceId: number; type: string; id: string }
export type ContentKey = { deviceId: number; id: string; createdAt: string }

type SealedValue<Key> = { key: Key; value: Buffer }

export type SealedPage<Key> = {
  /** Those that another key than the given one has encrypted. */
  values: SealedValue<Key>[]
  /** How many rows are on the page. */
  looked: number
  /** Where the next page begins; undefined when there is none. */
  last: Key | undefined
}

/** So many rows are looked at: a page takes little time also when there is nothing on it. */
const pageRows = 1000

export async function listAuthSealedByOthers(
  db: Database,
  masterKeyId: string,
  after: AuthKey = { deviceId: 0, type: '', id: '' },
): Promise<SealedPage<AuthKey>> {
  const sql = db.$client
  const scanned = await sql<(AuthKey & { value: Buffer | null })[]>`
    SELECT device_id AS "deviceId", type, id, ${unlessSealedBy(sql, 'value', masterKeyId)} AS value
    FROM device_auth WHERE (device_id, type, id) > (${after.deviceId}::int, ${after.type}, ${after.id})
    ORDER BY device_id, type, id LIMIT ${pageRows}`
  return toPage(scanned.map(({ value, ...key }) => ({ key, value })))
}

export async function listContentsSealedByOthers(
  db: Database,
  masterKeyId: string,
  after: Omit<ContentKey, 'deviceId'> = {
    id: '00000000-0000-0000-0000-000000000000',
    createdAt: '-infinity',
  },
): Promise<SealedPage<ContentKey>> {
  const sql = db.$client
  const scanned = await sql<(ContentKey & { value: Buffer | null })[]>`
    SELECT device_id AS "deviceId", id, created_at::text AS "createdAt",
      ${unlessSealedBy(sql, 'uploaded_content', masterKeyId)} AS value
    FROM messages WHERE (id, created_at) > (${after.id}::uuid, ${after.createdAt}::timestamptz)
    ORDER BY id, created_at LIMIT ${pageRows}`
  return toPage(scanned.map(({ value, ...key }) => ({ key, value })))
}

export type Replacement<Key> = SealedValue<Key> & { replacement: Buffer }

/**
 * Writes each replacement where the very value still stands that it was made of. Its owner may write a newer one at
 * any moment, and that one stays. Rows in somebody's hands are left out: nobody waits for us while we wait
 * for them. Returns how many were replaced.
 */
export async function replaceAuth(db: Database, given: Replacement<AuthKey>[]): Promise<number> {
  const sql = db.$client
  const replaced = await sql`
    WITH given AS (
      SELECT device_id, type, id, decode(old, 'base64') AS old, decode(new, 'base64') AS new FROM ${rows(
        sql,
        'row',
        given,
        {
          device_id: ['int', ({ key }) => key.deviceId],
          type: ['text', ({ key }) => key.type],
          id: ['text', ({ key }) => key.id],
          ...replacementColumns,
        },
      )}
    ),
    locked AS (
      SELECT auth.device_id, auth.type, auth.id, given.new FROM device_auth AS auth JOIN given USING (device_id, type, id)
      WHERE auth.value = given.old FOR UPDATE OF auth SKIP LOCKED
    )
    UPDATE device_auth AS auth SET value = locked.new FROM locked
    WHERE (auth.device_id, auth.type, auth.id) = (locked.device_id, locked.type, locked.id)`
  return replaced.count
}

/** As `replaceAuth`. */
export async function replaceContents(db: Database, given: Replacement<ContentKey>[]): Promise<number> {
  const sql = db.$client
  const replaced = await sql`
    WITH given AS (
      SELECT id, created_at::timestamptz AS created_at, decode(old, 'base64') AS old, decode(new, 'base64') AS new
      FROM ${rows(sql, 'row', given, {
        id: ['uuid', ({ key }) => key.id],
        created_at: ['text', ({ key }) => key.createdAt],
        ...replacementColumns,
      })}
    ),
    locked AS (
      SELECT message.id, message.created_at, given.new FROM messages AS message JOIN given USING (id, created_at)
      WHERE message.uploaded_content = given.old FOR UPDATE OF message SKIP LOCKED
    )
    UPDATE messages AS message SET uploaded_content = locked.new FROM locked
    WHERE (message.id, message.created_at) = (locked.id, locked.created_at)`
  return replaced.count
}

const replacementColumns: Columns<{ value: Buffer; replacement: Buffer }> = {
  old: ['text', ({ value }) => value.toString('base64')],
  new: ['text', ({ replacement }) => replacement.toString('base64')],
}

/** A value begins with 1 byte version and 4 bytes id of its master key. */
function unlessSealedBy(sql: postgres.Sql, column: string, masterKeyId: string) {
  return sql`CASE WHEN encode(substring(${sql(column)} FROM 2 FOR 4), 'hex') <> ${masterKeyId} THEN ${sql(column)} END`
}

function toPage<Key>(scanned: { key: Key; value: Buffer | null }[]): SealedPage<Key> {
  return {
    values: scanned.flatMap(({ key, value }) => (value ? [{ key, value }] : [])),
    looked: scanned.length,
    last: scanned.length < pageRows ? undefined : scanned.at(-1)?.key,
  }
}
