import type { EventPosition } from '@wagate/shared/event-ids'
import type { EventRow } from '@wagate/shared/objects/event-object'
import type { Database } from '../client.ts'
import { findMessages } from './message-history.ts'
import { wasDropped } from './partitions.ts'

export type EventFilter = {
  types?: number[] | undefined
  deviceId?: number | undefined
  deviceIds?: number[] | undefined
}

/** `next`: where the next page begins. `hasMore`: it may have events already. */
export type EventPage = { events: EventRow[]; next: EventPosition; hasMore: boolean }

/** How many events one page reads for a filter that few of them pass. */
const scannedMax = 2000

type ScannedRow = {
  epoch: number | null
  tx: string
  id: string
  seconds: number
  type: number
  deviceId: number | null
  messageId: string | null
  at: string
  createdAt: string
  isWanted: boolean
  horizonEpoch: number
  horizonTx: string
  nowSeconds: number
}

/**
 * The next events of an account. Those of transactions that have begun before the oldest running one: a transaction may
 * commit after another that has begun later, and whoever has read on would never see its events.
 */
export async function listEvents(
  db: Database,
  accountId: number,
  query: EventFilter & { after: EventPosition; limit: number },
): Promise<EventPage> {
  const { events, ...page } = await readPage(db, accountId, query)
  const ids = events.flatMap(({ messageId }) => messageId ?? [])
  const messages = await findMessages(db, accountId, [...new Set(ids)])
  return {
    ...page,
    events: events.map((event) => ({ ...event, message: messages.get(event.messageId ?? '') })),
  }
}

type StoredEvent = Omit<EventRow, 'message'>
type StoredPage = Omit<EventPage, 'events'> & { events: StoredEvent[] }

async function readPage(
  db: Database,
  accountId: number,
  { after, limit, types, deviceId, deviceIds }: EventFilter & { after: EventPosition; limit: number },
): Promise<StoredPage> {
  const sql = db.$client
  const hasFilter = types !== undefined || deviceId !== undefined || deviceIds !== undefined
  const rowsMax = hasFilter ? Math.max(scannedMax, limit) : limit
  const isWanted = sql`(${types ?? null}::smallint[] IS NULL OR type = ANY (${types ?? null}::smallint[]))
    AND (${deviceId ?? null}::int IS NULL OR device_id IS NOT DISTINCT FROM ${deviceId ?? null}::int)
    AND (${deviceIds ?? null}::int[] IS NULL OR device_id = ANY (${deviceIds ?? null}::int[]))`
  const rows = await sql<ScannedRow[]>`
    WITH horizon AS MATERIALIZED (
      SELECT event_epoch AS epoch, pg_snapshot_xmin(pg_current_snapshot()) AS tx FROM installation
    ),
    scanned AS MATERIALIZED (
      SELECT *, ${isWanted} AS is_wanted FROM events
      WHERE account_id = ${accountId} AND (epoch, tx, id) > (${after.epoch}, ${after.tx}::text::xid8, ${after.id}::bigint)
        AND (epoch < (SELECT epoch FROM horizon) OR tx < (SELECT tx FROM horizon))
        -- Limits the partitions. A transaction records the time at which it began.
        AND created_at >= to_timestamp(${after.seconds}) - interval '1 day' AND created_at < now() + interval '1 day'
      ORDER BY epoch, tx, id LIMIT ${rowsMax}
    )
    SELECT scanned.epoch, scanned.tx::text, scanned.id::text, floor(extract(epoch FROM created_at))::float8 AS seconds,
      type, device_id AS "deviceId", message_id AS "messageId", is_wanted AS "isWanted",
      ${iso(sql, 'coalesce(at, created_at)')} AS at, ${iso(sql, 'created_at')} AS "createdAt",
      horizon.epoch AS "horizonEpoch", horizon.tx::text AS "horizonTx",
      floor(extract(epoch FROM now()))::float8 AS "nowSeconds"
    FROM horizon LEFT JOIN scanned ON true
    ORDER BY scanned.epoch, scanned.tx, scanned.id`
  return toPage(rows, { after, limit, rowsMax })
}

function toPage(
  rows: ScannedRow[],
  { after, limit, rowsMax }: { after: EventPosition; limit: number; rowsMax: number },
): StoredPage {
  const scanned = rows.filter(({ epoch }) => epoch !== null)
  const events = scanned.filter(({ isWanted }) => isWanted).map(toEvent)
  const shown = events.slice(0, limit)
  const lastShown = shown.at(-1)
  if (lastShown && events.length >= limit) return { events: shown, next: lastShown.position, hasMore: true }
  const lastScanned = scanned.at(-1)
  if (lastScanned && scanned.length === rowsMax)
    return { events: shown, next: toEvent(lastScanned).position, hasMore: true }
  return { events: shown, next: horizonOf(rows[0], after), hasMore: false }
}

/** All events before it have been read. */
function horizonOf(row: ScannedRow | undefined, after: EventPosition): EventPosition {
  if (!row) return after
  const { horizonEpoch: epoch, horizonTx: tx, nowSeconds: seconds } = row
  const isAhead = after.epoch > epoch || (after.epoch === epoch && BigInt(after.tx) >= BigInt(tx))
  return isAhead ? after : { epoch, tx, id: '0', seconds }
}

function toEvent({
  epoch,
  tx,
  id,
  seconds,
  type,
  deviceId,
  messageId,
  at,
  createdAt,
}: ScannedRow): StoredEvent {
  return { position: { epoch: epoch ?? 0, tx, id, seconds }, type, deviceId, messageId, at, createdAt }
}

/** As Date.toISOString writes it. */
function iso(sql: Database['$client'], time: string) {
  return sql.unsafe(`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
}

/** After all events that can be read now. */
export async function findLatestPosition(db: Database): Promise<EventPosition> {
  const [row] = await db.$client<{ epoch: number; tx: string; seconds: number }[]>`
    SELECT event_epoch AS epoch, pg_snapshot_xmin(pg_current_snapshot())::text AS tx,
      floor(extract(epoch FROM now()))::float8 AS seconds
    FROM installation`
  if (!row) throw new Error('The installation has no row')
  return { ...row, id: '0' }
}

const dayMs = 86_400_000

/** Whether events that follow this position may have been deleted. */
export async function isPositionExpired(db: Database, { seconds }: EventPosition): Promise<boolean> {
  const atMs = seconds * 1000
  return seconds > 0 && atMs < Date.now() - dayMs && (await wasDropped(db.$client, 'events', atMs))
}
