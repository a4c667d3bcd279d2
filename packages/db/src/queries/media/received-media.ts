import type { MediaUnavailableReason } from '@wagate/shared/received-media'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { advisoryLocks } from '../../locks.ts'
import { insertMessageEvents } from '../statements/event-rows.ts'
import { expectOwner, type Fence, fenceOf } from '../statements/fence.ts'
import { listOf } from '../statements/rows.ts'
import { lockContent } from './media-content.ts'

/** A file that an owner should download now. */
export type DueMedia = {
  messageId: string
  accountId: number
  deviceId: number
  shard: number
  sealed: Buffer
  size: number
  /** Hex. */
  sha256: string
  /** As the sender claims. */
  declaredMime: string | null
  filename: string | null
  /** Failed ones. */
  attempts: number
}

type DueQuery = { shards: number[]; except: string[]; max: number; maxOfAccount: number }

/** Of all accounts in turn: one with many files does not keep others waiting. */
export async function listDueMedia(
  db: Database,
  { shards, except, max, maxOfAccount }: DueQuery,
): Promise<DueMedia[]> {
  return db.$client<DueMedia[]>`
    SELECT message_id AS "messageId", account_id AS "accountId", device_id AS "deviceId", shard, sealed,
      size::float8 AS size, encode(sha256, 'hex') AS sha256, declared_mime AS "declaredMime", filename, attempts
    FROM (
      SELECT media.*, device.shard, row_number() OVER (PARTITION BY media.account_id ORDER BY next_attempt_at) AS place
      FROM received_media AS media JOIN devices AS device ON device.id = media.device_id
        JOIN accounts AS account ON account.id = media.account_id AND account.disabled_at IS NULL
      WHERE device.shard = ANY (${listOf(shards)}::int[]) AND media.state = 'pending' AND media.next_attempt_at <= now()
        AND media.message_id <> ALL (${except}::uuid[])
    ) AS due
    WHERE place <= ${maxOfAccount}
    ORDER BY place, next_attempt_at LIMIT ${max}`
}

type MediaOf = Pick<DueMedia, 'messageId' | 'accountId'>

/**
 * The file is in the store. Both functions of `inStore` are called while nobody else can store or remove it. Changes nothing
 * when the file is `gone`, because the last message that needed it may have expired after it was put there, and when the
 * account would have more bytes than `accountBytesMax`: then the file is removed unless it is stored for a message.
 */
export function setMediaStored(
  db: Database,
  fence: Fence,
  media: MediaOf & { sha256: string; mime: string; size: number },
  accountBytesMax: number,
  inStore: { has(): Promise<boolean>; remove(): Promise<void> },
): Promise<'stored' | 'gone' | 'quota'> {
  return db.$client.begin(async (sql) => {
    await lockContent(sql, media)
    if (!(await inStore.has())) return 'gone'
    // The next count of this account sees what this transaction stores.
    await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.mediaOfAccount}, ${media.accountId})`
    const refused = await findRefusal(sql, media, accountBytesMax)
    if (refused) {
      if (!(await isStored(sql, media))) await inStore.remove()
      return refused
    }
    await change(sql, fence, media, {
      assignments: sql`state = 'stored', mime = ${media.mime}, size = ${media.size}, reason = NULL`,
      event: 'media.stored',
    })
    return 'stored'
  })
}

/** `gone`: the account of the message was deleted meanwhile. */
async function findRefusal(
  sql: postgres.ISql,
  { messageId, accountId, size }: MediaOf & { size: number },
  accountBytesMax: number,
): Promise<'gone' | 'quota' | undefined> {
  const [row] = await sql`
    SELECT FROM received_media WHERE message_id = ${messageId} AND account_id = ${accountId}`
  if (!row) return 'gone'
  return (await countBytes(sql, accountId)) + size > accountBytesMax ? 'quota' : undefined
}

/** A message that still waits for the same file downloads it again. */
async function isStored(
  sql: postgres.ISql,
  { accountId, sha256 }: Pick<DueMedia, 'accountId' | 'sha256'>,
): Promise<boolean> {
  const [stored] = await sql`
    SELECT FROM received_media
    WHERE account_id = ${accountId} AND sha256 = decode(${sha256}, 'hex') AND state = 'stored' LIMIT 1`
  return stored !== undefined
}

export async function setMediaUnavailable(
  db: Database,
  fence: Fence,
  media: MediaOf,
  reason: MediaUnavailableReason,
): Promise<void> {
  const sql = db.$client
  await change(sql, fence, media, {
    assignments: sql`state = 'unavailable', reason = ${reason}`,
    event: 'media.unavailable',
  })
}

async function change(
  sql: postgres.ISql,
  fence: Fence,
  { messageId, accountId }: MediaOf,
  { assignments, event }: { assignments: postgres.Fragment; event: 'media.stored' | 'media.unavailable' },
): Promise<void> {
  await expectOwner(
    fence,
    sql`
      WITH fence AS (${fenceOf(sql, fence)}),
      changed AS (
        UPDATE received_media SET ${assignments}, sealed = NULL, next_attempt_at = NULL FROM fence
        WHERE message_id = ${messageId} AND account_id = ${accountId} AND state = 'pending'
        RETURNING message_id AS id, account_id, device_id
      ),
      announced AS (${insertMessageEvents(sql, event, 'changed')})
      SELECT shard FROM fence`,
  )
}

/** An attempt has failed, after `attempts` others that had; the next one is due in `afterMs`. */
export async function postponeMedia(
  db: Database,
  fence: Fence,
  { messageId, accountId, attempts }: MediaOf & Pick<DueMedia, 'attempts'>,
  afterMs: number,
): Promise<void> {
  const sql = db.$client
  await expectOwner(
    fence,
    sql`
      WITH fence AS (${fenceOf(sql, fence)}),
      changed AS (
        UPDATE received_media SET attempts = ${attempts + 1},
          next_attempt_at = now() + ${afterMs}::float8 * interval '1 ms' FROM fence
        WHERE message_id = ${messageId} AND account_id = ${accountId} AND state = 'pending'
      )
      SELECT shard FROM fence`,
  )
}

/** Bytes of the stored files of an account. A file that several messages share counts once for each of them. */
export function countMediaBytes(db: Database, accountId: number): Promise<number> {
  return countBytes(db.$client, accountId)
}

async function countBytes(sql: postgres.ISql, accountId: number): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    SELECT coalesce(sum(size), 0)::float8 AS bytes FROM received_media
    WHERE account_id = ${accountId} AND state = 'stored'`
  return row?.bytes ?? 0
}
