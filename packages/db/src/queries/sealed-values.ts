import type postgres from 'postgres'
import type { Database } from '../client.ts'
import { type Columns, rows } from './rows.ts'

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
export async function replaceProxies(db: Database, given: Replacement<ProxyOf>[]): Promise<number> {
  const sql = db.$client
  const replaced = await sql`
    WITH given AS (
      SELECT device_id, decode(old, 'base64') AS old, decode(new, 'base64') AS new
      FROM ${rows(sql, 'row', given, {
        device_id: ['int', ({ key }) => key.deviceId],
        ...replacementColumns,
      })}
    ),
    locked AS (
      SELECT proxy.device_id, given.new FROM device_proxies AS proxy JOIN given USING (device_id)
      WHERE proxy.sealed = given.old FOR UPDATE OF proxy SKIP LOCKED
    )
    UPDATE device_proxies AS proxy SET sealed = locked.new FROM locked
    WHERE proxy.device_id = locked.device_id`
  return replaced.count
}

/** As `replaceAuth`. */
export async function replaceWebhookSecrets(
  db: Database,
  given: Replacement<WebhookSecretKey>[],
): Promise<number> {
  const sql = db.$client
  const replaced = await sql`
    WITH given AS (
      SELECT id, decode(old, 'base64') AS old, decode(new, 'base64') AS new
      FROM ${rows(sql, 'row', given, { id: ['bigint', ({ key }) => key.id], ...replacementColumns })}
    ),
    locked AS (
      SELECT secret.id, given.new FROM webhook_secrets AS secret JOIN given USING (id)
      WHERE secret.sealed = given.old FOR UPDATE OF secret SKIP LOCKED
    )
    UPDATE webhook_secrets AS secret SET sealed = locked.new FROM locked WHERE secret.id = locked.id`
  return replaced.count
}

/** As `replaceAuth`. */
export async function replaceMedia(db: Database, given: Replacement<MediaKey>[]): Promise<number> {
  const sql = db.$client
  const replaced = await sql`
    WITH given AS (
      SELECT message_id, decode(old, 'base64') AS old, decode(new, 'base64') AS new
      FROM ${rows(sql, 'row', given, {
        message_id: ['uuid', ({ key }) => key.messageId],
        ...replacementColumns,
      })}
    ),
    locked AS (
      SELECT media.message_id, given.new FROM received_media AS media JOIN given USING (message_id)
      WHERE media.sealed = given.old FOR UPDATE OF media SKIP LOCKED
    )
    UPDATE received_media AS media SET sealed = locked.new FROM locked
    WHERE media.message_id = locked.message_id`
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
