import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { type Columns, type ColumnType, rows } from '../statements/rows.ts'

/** Identifies an encrypted value: a row of `device_auth`, or the uploaded content of a message. */
export type AuthKey = { deviceId: number; type: string; id: string }
export type ContentKey = { deviceId: number; id: string; createdAt: string }

type SealedValue<Key> = { key: Key; value: Buffer }

export type SealedPage<Key> = {
  /** The values that are encrypted by another master key than the given one. */
  values: SealedValue<Key>[]
  /** The number of rows on the page. */
  scanned: number
  /** Where the next page begins. Undefined after the last page. */
  last: Key | undefined
}

/** Limits scanned rows instead of found values, so that a page without any is quick as well. */
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

export type ProxyOf = { deviceId: number }

export async function listProxiesSealedByOthers(
  db: Database,
  masterKeyId: string,
  after: ProxyOf = { deviceId: 0 },
): Promise<SealedPage<ProxyOf>> {
  const sql = db.$client
  const scanned = await sql<(ProxyOf & { value: Buffer | null })[]>`
    SELECT device_id AS "deviceId", ${unlessSealedBy(sql, 'sealed', masterKeyId)} AS value
    FROM device_proxies WHERE device_id > ${after.deviceId}::int ORDER BY device_id LIMIT ${pageRows}`
  return toPage(scanned.map(({ value, ...key }) => ({ key, value })))
}

/** `id` identifies the secret. */
export type WebhookSecretKey = { id: string; webhookId: number }

export async function listWebhookSecretsSealedByOthers(
  db: Database,
  masterKeyId: string,
  after: Pick<WebhookSecretKey, 'id'> = { id: '0' },
): Promise<SealedPage<WebhookSecretKey>> {
  const sql = db.$client
  const scanned = await sql<(WebhookSecretKey & { value: Buffer | null })[]>`
    SELECT id::text, webhook_id AS "webhookId", ${unlessSealedBy(sql, 'sealed', masterKeyId)} AS value
    FROM webhook_secrets WHERE id > ${after.id}::bigint ORDER BY webhook_secrets.id LIMIT ${pageRows}`
  return toPage(scanned.map(({ value, ...key }) => ({ key, value })))
}

export type MediaKey = { deviceId: number; messageId: string }

export async function listMediaSealedByOthers(
  db: Database,
  masterKeyId: string,
  after: Pick<MediaKey, 'messageId'> = { messageId: '00000000-0000-0000-0000-000000000000' },
): Promise<SealedPage<MediaKey>> {
  const sql = db.$client
  const scanned = await sql<(MediaKey & { value: Buffer | null })[]>`
    SELECT device_id AS "deviceId", message_id AS "messageId", ${unlessSealedBy(sql, 'sealed', masterKeyId)} AS value
    FROM received_media WHERE message_id > ${after.messageId}::uuid ORDER BY message_id LIMIT ${pageRows}`
  return toPage(scanned.map(({ value, ...key }) => ({ key, value })))
}

export type Replacement<Key> = SealedValue<Key> & { replacement: Buffer }

/**
 * Stores each replacement if the original value has not changed meanwhile: an owner may write a newer one at any time.
 * Skips locked rows, so that this never waits while it holds locks itself. Returns the number of replaced values.
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

/** As `replaceAuth`. */
export function replaceProxies(db: Database, given: Replacement<ProxyOf>[]): Promise<number> {
  return replaceSealed(db, given, {
    table: 'device_proxies',
    column: 'device_id',
    type: 'int',
    idOf: ({ deviceId }) => deviceId,
  })
}

/** As `replaceAuth`. */
export function replaceWebhookSecrets(db: Database, given: Replacement<WebhookSecretKey>[]): Promise<number> {
  return replaceSealed(db, given, {
    table: 'webhook_secrets',
    column: 'id',
    type: 'bigint',
    idOf: ({ id }) => id,
  })
}

/** As `replaceAuth`. */
export function replaceMedia(db: Database, given: Replacement<MediaKey>[]): Promise<number> {
  return replaceSealed(db, given, {
    table: 'received_media',
    column: 'message_id',
    type: 'uuid',
    idOf: ({ messageId }) => messageId,
  })
}

/** `column` identifies a row of `table`, whose column `sealed` is replaced. */
type SealedTable<Key> = { table: string; column: string; type: ColumnType; idOf(key: Key): string | number }

async function replaceSealed<Key>(
  db: Database,
  given: Replacement<Key>[],
  { table, column, type, idOf }: SealedTable<Key>,
): Promise<number> {
  const sql = db.$client
  const columns: Columns<Replacement<Key>> = { id: [type, ({ key }) => idOf(key)], ...replacementColumns }
  const replaced = await sql`
    WITH given AS (
      SELECT id, decode(old, 'base64') AS old, decode(new, 'base64') AS new
      FROM ${rows(sql, 'row', given, columns)}
    ),
    locked AS (
      SELECT given.id, given.new FROM ${sql(table)} AS stored JOIN given ON stored.${sql(column)} = given.id
      WHERE stored.sealed = given.old FOR UPDATE OF stored SKIP LOCKED
    )
    UPDATE ${sql(table)} AS stored SET sealed = locked.new FROM locked WHERE stored.${sql(column)} = locked.id`
  return replaced.count
}

const replacementColumns: Columns<{ value: Buffer; replacement: Buffer }> = {
  old: ['text', ({ value }) => value.toString('base64')],
  new: ['text', ({ replacement }) => replacement.toString('base64')],
}

/** A value begins with one byte for its version and four bytes for the id of its master key. */
function unlessSealedBy(sql: postgres.Sql, column: string, masterKeyId: string) {
  return sql`CASE WHEN encode(substring(${sql(column)} FROM 2 FOR 4), 'hex') <> ${masterKeyId} THEN ${sql(column)} END`
}

function toPage<Key>(scanned: { key: Key; value: Buffer | null }[]): SealedPage<Key> {
  return {
    values: scanned.flatMap(({ key, value }) => (value ? [{ key, value }] : [])),
    scanned: scanned.length,
    last: scanned.length < pageRows ? undefined : scanned.at(-1)?.key,
  }
}
