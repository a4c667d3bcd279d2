import type { MediaUnavailableReason } from '@wagate/shared/received-media'
import type postgres from 'postgres'
import type { Database } from '../client.ts'
import { insertMessageEvents } from './event-rows.ts'
import { expectOwner, type Fence, fenceOf } from './fence.ts'
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
      size::float8 AS size, encode(sha256, 'hex') AS sha256, attempts
    FROM (
      SELECT media.*, device.shard, row_number() OVER (PARTITION BY media.account_id ORDER BY next_attempt_at) AS place
      FROM received_media AS media JOIN devices AS device ON device.id = media.device_id
      WHERE device.shard = ANY (${shards}::int[]) AND media.state = 'pending' AND media.next_attempt_at <= now()
        AND media.message_id <> ALL (${except}::uuid[])
    ) AS due
    WHERE place <= ${maxOfAccount}
    ORDER BY place, next_attempt_at LIMIT ${max}`
}

type MediaOf = Pick<DueMedia, 'messageId' | 'accountId'>

/**
 * The file is in the store. `isInStore` is asked while nobody can remove it: the last message that needed the same file may
 * have expired after it was put there. Returns false, and changes nothing, when it is gone.
 */
export function setMediaStored(
  db: Database,
  fence: Fence,
  media: MediaOf & { sha256: string; mime: string; size: number },
  isInStore: () => Promise<boolean>,
): Promise<boolean> {
  return db.$client.begin(async (sql) => {
    await lockContent(sql, media)
    if (!(await isInStore())) return false
    await change(sql, fence, media, {
      assignments: sql`state = 'stored', mime = ${media.mime}, size = ${media.size}, reason = NULL`,
      event: 'media.stored',
    })
    return true
  })
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

/** An attempt has failed; the next one is due in `afterMs`. */
export async function postponeMedia(
  db: Database,
  fence: Fence,
  { messageId, accountId }: MediaOf,
  afterMs: number,
): Promise<void> {
  const sql = db.$client
  await expectOwner(
    fence,
    sql`
      WITH fence AS (${fenceOf(sql, fence)}),
      changed AS (
        UPDATE received_media SET attempts = attempts + 1,
          next_attempt_at = now() + ${afterMs}::float8 * interval '1 ms' FROM fence
        WHERE message_id = ${messageId} AND account_id = ${accountId} AND state = 'pending'
      )
      SELECT shard FROM fence`,
  )
}

/** Bytes of the stored files of an account. A file that several messages share counts once for each of them. */
export async function countMediaBytes(db: Database, accountId: number): Promise<number> {
  const [row] = await db.$client<{ bytes: number }[]>`
    SELECT coalesce(sum(size), 0)::float8 AS bytes FROM received_media
    WHERE account_id = ${accountId} AND state = 'stored'`
  return row?.bytes ?? 0
}
