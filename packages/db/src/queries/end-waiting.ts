import type postgres from 'postgres'
import type { Database } from '../client.ts'
import { isLinkedIn } from './device-status.ts'
import { type Fence, fenceOf, OwnershipLost } from './fence.ts'

/** Where the next page of a device's waiting messages begins: first those without `send_at`, then the scheduled ones. */
export type WaitingPosition = { sendAt: string | null; seq: string }

/** `next` is undefined when nothing is left to look at. */
export type EndedPage = { ended: number; next: WaitingPosition | undefined }

export const firstWaiting: WaitingPosition = { sendAt: null, seq: '0' }
const firstScheduled: WaitingPosition = { sendAt: '-infinity', seq: '0' }

/** A statement holds the lease of the shard, and with it a hand-over, until it has ended. */
const pageRows = 200

/**
 * Fails those of one page of waiting messages that were accepted for a link which no longer exists. Nothing waits
 * for the last page: what belongs to another link is neither listed nor claimed.
 */
export async function failUnlinkedMessages(
  db: Database,
  fence: Fence,
  deviceId: number,
  from: WaitingPosition,
  sentence: string,
): Promise<EndedPage> {
  const sql = db.$client
  const page = await endWaiting(db, fence, deviceId, from, {
    code: 'sender_logged_out',
    sentence: sql`${sentence}::text`,
    isOver: sql`NOT ${isLinkedIn(sql, 'device')} OR message.link_generation <> device.link_generation`,
  })
  return { ended: page.ended, next: nextOf(page, from) }
}

/** Fails those of one page of waiting messages that could not be sent within their time, and says what kept them. */
export async function expireMessages(
  db: Database,
  fence: Fence,
  deviceId: number,
  from: WaitingPosition,
  expiry: { ttlMs: number; sentence: string },
): Promise<EndedPage> {
  const sql = db.$client
  const page = await endWaiting(db, fence, deviceId, from, {
    code: 'message_expired',
    sentence: sql`concat_ws(' ', ${expiry.sentence}::text, message.setback)`,
    isOver: sql`greatest(message.created_at, message.send_at) < now() - ${expiry.ttlMs} * interval '1 ms'`,
  })
  // The oldest come first: behind one that is in time there is none that is not.
  const isAtEnd = page.ended < page.rows
  if (isAtEnd) return { ended: page.ended, next: from.sendAt === null ? firstScheduled : undefined }
  return { ended: page.ended, next: nextOf(page, from) }
}

type Fragment = postgres.PendingQuery<postgres.Row[]>
type Page = { ended: number; rows: number; last: WaitingPosition | undefined }

function nextOf({ rows, last }: Page, from: WaitingPosition): WaitingPosition | undefined {
  if (rows === pageRows) return last
  return from.sendAt === null ? firstScheduled : undefined
}

async function endWaiting(
  db: Database,
  fence: Fence,
  deviceId: number,
  from: WaitingPosition,
  end: { code: string; sentence: Fragment; isOver: Fragment },
): Promise<Page> {
  const sql = db.$client
  const behind =
    from.sendAt === null
      ? sql`send_at IS NULL AND seq > ${from.seq}::bigint ORDER BY seq`
      : sql`send_at IS NOT NULL AND (send_at, seq) > (${from.sendAt}::timestamptz, ${from.seq}::bigint)
          ORDER BY send_at, seq`
  const [row] = await sql<{ isOwner: boolean; ended: number; rows: number; sendAt: string; seq: string }[]>`
    WITH fence AS (${fenceOf(sql, fence)}),
    page AS MATERIALIZED (
      SELECT id, created_at, send_at, seq FROM messages
      WHERE device_id = ${deviceId} AND is_waiting AND ${behind} LIMIT ${pageRows}
    ),
    ended AS (
      UPDATE messages AS message SET status = 'failed', error_code = ${end.code}, error = ${end.sentence}
      FROM fence, page, devices AS device
      WHERE message.id = page.id AND message.created_at = page.created_at AND device.id = ${deviceId}
        AND message.is_waiting AND (${end.isOver})
      RETURNING 1
    )
    SELECT EXISTS (SELECT FROM fence) AS "isOwner", (SELECT count(*)::int FROM ended) AS ended,
      (SELECT count(*)::int FROM page) AS rows, last.send_at::text AS "sendAt", last.seq::text AS seq
    FROM (SELECT) AS one LEFT JOIN (
      SELECT send_at, seq FROM page ORDER BY send_at DESC, seq DESC LIMIT 1) AS last ON true`
  if (!row?.isOwner) throw new OwnershipLost(fence)
  return { ended: row.ended, rows: row.rows, last: row.seq === null ? undefined : row }
}

/**
 * The devices of these shards with a message that could not be sent within its time: by the oldest that waits, so
 * that it costs the same however many wait.
 */
export async function listDevicesWithExpired(
  db: Database,
  shards: number[],
  ttlMs: number,
): Promise<{ id: number; shard: number }[]> {
  const sql = db.$client
  const since = sql`now() - ${ttlMs} * interval '1 ms'`
  return sql<{ id: number; shard: number }[]>`
    SELECT device.id, device.shard FROM devices AS device
    WHERE device.shard = ANY(${shards}) AND coalesce(
      (SELECT created_at FROM messages
        WHERE device_id = device.id AND is_waiting AND send_at IS NULL ORDER BY seq LIMIT 1) < ${since}
      OR (SELECT true FROM messages
        WHERE device_id = device.id AND is_waiting AND send_at < ${since} AND created_at < ${since} LIMIT 1),
      false)`
}
