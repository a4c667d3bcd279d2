import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { acceptedBy, type SweptCode } from '../../message-states.ts'
import { isRecent } from '../devices/due-messages.ts'
import { isLinkedIn } from '../devices/linked-device.ts'
import { failureSteps } from '../statements/event-rows.ts'
import { type Fence, fenceOf, OwnershipLost } from '../statements/fence.ts'
import { listOf, rows } from '../statements/rows.ts'
import { withEntry } from './timeline-entries.ts'

/** The start of the next page of a device's waiting messages. Those without `send_at` come before scheduled ones. */
export type WaitingPosition = { sendAt: string | null; seq: string }

/** `next` is undefined after the last page. */
export type FailedPage = { failed: number; next: WaitingPosition | undefined }

export const firstWaiting: WaitingPosition = { sendAt: null, seq: '0' }
const firstScheduled: WaitingPosition = { sendAt: '-infinity', seq: '0' }

/** Each statement locks the lease of the shard and delays a hand-over until it has ended, so it must be short. */
const pageRows = 200

/**
 * Fails the messages of one page that were accepted for a link which no longer exists. Sending need not wait for this:
 * messages of another link are neither listed nor claimed.
 */
export async function failUnlinkedMessages(
  db: Database,
  fence: Fence,
  deviceId: number,
  from: WaitingPosition,
  sentence: string,
): Promise<FailedPage> {
  const sql = db.$client
  const page = await failPage(db, fence, deviceId, from, {
    code: 'sender_logged_out',
    sentence: sql`${sentence}::text`,
    isOver: sql`NOT ${isLinkedIn(sql, 'device')} OR message.link_generation <> device.link_generation`,
  })
  return { failed: page.failed, next: nextOf(page, from) }
}

/** Fails the messages of one page that could not be sent in time. Their error says why. */
export async function expireMessages(
  db: Database,
  fence: Fence,
  deviceId: number,
  from: WaitingPosition,
  expiry: { ttlMs: number; sentence: string },
): Promise<FailedPage> {
  const sql = db.$client
  const page = await failPage(db, fence, deviceId, from, {
    code: 'message_expired',
    sentence: sql`concat_ws(' ', ${expiry.sentence}::text, message.setback)`,
    isOver: sql`greatest(message.created_at, message.send_at) < now() - ${expiry.ttlMs} * interval '1 ms'`,
  })
  // The oldest messages come first: after one that is in time, all are.
  const isAtEnd = page.failed < page.rows
  if (isAtEnd) return { failed: page.failed, next: from.sendAt === null ? firstScheduled : undefined }
  return { failed: page.failed, next: nextOf(page, from) }
}

type Fragment = postgres.PendingQuery<postgres.Row[]>
type Page = { failed: number; rows: number; last: WaitingPosition | undefined }

function nextOf({ rows, last }: Page, from: WaitingPosition): WaitingPosition | undefined {
  if (rows === pageRows) return last
  return from.sendAt === null ? firstScheduled : undefined
}

async function failPage(
  db: Database,
  fence: Fence,
  deviceId: number,
  from: WaitingPosition,
  end: { code: SweptCode; sentence: Fragment; isOver: Fragment },
): Promise<Page> {
  const sql = db.$client
  const behind =
    from.sendAt === null
      ? sql`send_at IS NULL AND seq > ${from.seq}::bigint ORDER BY seq`
      : sql`send_at IS NOT NULL AND (send_at, seq) > (${from.sendAt}::timestamptz, ${from.seq}::bigint)
          ORDER BY send_at, seq`
  const [row] = await sql<{ isOwner: boolean; failed: number; rows: number; sendAt: string; seq: string }[]>`
    WITH fence AS (${fenceOf(sql, fence)}),
    page AS MATERIALIZED (
      SELECT id, created_at, send_at, seq FROM messages
      WHERE device_id = ${deviceId} AND is_waiting AND ${behind} LIMIT ${pageRows}
    ),
    failed AS (
      UPDATE messages AS message SET status = 'failed', error_code = ${end.code}, error = ${end.sentence},
        timeline = ${sql.unsafe(withEntry('message', 'failed'))}
      FROM fence, page, devices AS device
      WHERE message.id = page.id AND message.created_at = page.created_at AND device.id = ${deviceId}
        AND message.is_waiting AND (${end.isOver})
      RETURNING message.id, message.account_id, message.device_id, message.sender, message.error_code
    ),
    ${failureSteps(sql, 'failed')}
    SELECT EXISTS (SELECT FROM fence) AS "isOwner", (SELECT count(*)::int FROM failed) AS failed,
      (SELECT count(*)::int FROM page) AS rows, last.send_at::text AS "sendAt", last.seq::text AS seq
    FROM (SELECT) AS one LEFT JOIN (
      SELECT send_at, seq FROM page ORDER BY send_at DESC, seq DESC LIMIT 1) AS last ON true`
  if (!row?.isOwner) throw new OwnershipLost(fence)
  return { failed: row.failed, rows: row.rows, last: row.seq === null ? undefined : row }
}

/** A message with a time of its own (`expires_at`), which is over. */
export type OverdueMessage = {
  id: string
  createdAt: string
  deviceId: number
  accountId: number
  shard: number
}

/** Those of these shards, the longest overdue first. What may have left does not expire, so `sending` ones are left out. */
export async function listOverdueMessages(
  db: Database,
  shards: number[],
  limit: number,
): Promise<OverdueMessage[]> {
  const sql = db.$client
  return sql<OverdueMessage[]>`
    SELECT message.id, message.created_at::text AS "createdAt", device.id AS "deviceId",
      device.account_id AS "accountId", device.shard
    FROM messages AS message JOIN devices AS device ON device.id = message.device_id
    WHERE message.is_waiting AND message.expires_at <= now() AND message.status = 'queued'
      AND ${isRecent(sql, 'message')} AND device.shard = ANY(${listOf(shards)}::int[])
    ORDER BY message.expires_at LIMIT ${limit}`
}

/** Fails those of one shard, unless they have been claimed meanwhile. Returns how many. Throws `OwnershipLost`. */
export async function failOverdueMessages(
  db: Database,
  fence: Fence,
  overdue: Pick<OverdueMessage, 'id' | 'createdAt'>[],
  sentence: string,
): Promise<number> {
  const sql = db.$client
  const [row] = await sql<{ isOwner: boolean; failed: number }[]>`
    WITH fence AS (${fenceOf(sql, fence)}),
    failed AS (
      UPDATE messages AS message SET status = 'failed', error_code = ${'message_expired' satisfies SweptCode},
        error = concat_ws(' ', ${sentence}::text, message.setback),
        timeline = ${sql.unsafe(withEntry('message', 'failed'))}
      FROM fence, ${rows(sql, 'given', overdue, {
        id: ['uuid', ({ id }) => id],
        created_at: ['text', ({ createdAt }) => createdAt],
      })}
      WHERE message.id = given.id AND message.created_at = given.created_at::timestamptz
        AND message.status = ANY(${acceptedBy('expire').statuses}) AND message.expires_at <= now()
      RETURNING message.id, message.account_id, message.device_id, message.sender, message.error_code
    ),
    ${failureSteps(sql, 'failed')}
    SELECT EXISTS (SELECT FROM fence) AS "isOwner", (SELECT count(*)::int FROM failed) AS failed`
  if (!row?.isOwner) throw new OwnershipLost(fence)
  return row.failed
}

/**
 * The devices of these shards with a message that could not be sent in time. It reads only the oldest waiting message of
 * each device, so its cost does not depend on how many wait.
 */
export async function listDevicesWithExpired(
  db: Database,
  shards: number[],
  ttlMs: number,
): Promise<{ id: number; accountId: number; shard: number }[]> {
  const sql = db.$client
  const since = sql`now() - ${ttlMs} * interval '1 ms'`
  return sql<{ id: number; accountId: number; shard: number }[]>`
    SELECT device.id, device.account_id AS "accountId", device.shard FROM devices AS device
    WHERE device.shard = ANY(${listOf(shards)}::int[]) AND coalesce(
      (SELECT created_at FROM messages
        WHERE device_id = device.id AND is_waiting AND send_at IS NULL ORDER BY seq LIMIT 1) < ${since}
      OR (SELECT true FROM messages
        WHERE device_id = device.id AND is_waiting AND send_at < ${since} AND created_at < ${since} LIMIT 1),
      false)`
}
