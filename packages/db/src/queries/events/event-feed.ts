import type { EventPosition } from '@wagate/shared/event-ids'
import type { EventDevice, EventRow } from '@wagate/shared/objects/event-object'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { findMessages } from '../messages/message-history.ts'
import { iso } from '../statements/iso-time.ts'
import { wasDropped } from '../statements/partitions.ts'
import { timesAfter } from '../statements/recorded-times.ts'

export type EventFilter = {
  types?: number[] | undefined
  deviceId?: number | undefined
  deviceIds?: number[] | undefined
}

/** `next`: where the next page begins. `hasMore`: it may have events already. */
export type EventPage = { events: EventRow[]; next: EventPosition; hasMore: boolean }

/** How many events one page reads for a filter that few of them pass. */
const scannedMax = 2000

type ScannedPage = {
  scanned: (ScannedEvent & { isWanted: boolean })[]
  horizonEpoch: number
  horizonTx: string
  nowSeconds: number
  /** What to read instead, because some events that follow may have been recorded at other times. */
  widerTimes: RecordedTimes | null
}

/** Timestamps of Postgres. Limits the partitions that are read. `until` null: tomorrow. */
type RecordedTimes = { since: string; until: string | null }

export type ScannedEvent = Omit<StoredEvent, 'position'> & EventPosition

/** SQL: what `json_build_object` makes a `ScannedEvent` of, from a row of `events`. */
export const eventFields = (sql: postgres.Sql) => sql`
  'epoch', epoch, 'tx', tx::text, 'id', id::text, 'seconds', floor(extract(epoch FROM created_at)),
  'type', type, 'deviceId', device_id, 'messageId', message_id, 'data', data,
  'at', ${iso(sql, 'coalesce(at, created_at)')}, 'createdAt', ${iso(sql, 'created_at')}`

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
  return { ...page, events: await withSubjects(db, accountId, events) }
}

/** Adds the messages and devices that the events are about. */
export async function withSubjects(
  db: Database,
  accountId: number,
  events: readonly StoredEvent[],
): Promise<EventRow[]> {
  const ids = events.flatMap(({ messageId }) => messageId ?? [])
  const deviceIds = events.flatMap(({ messageId, deviceId }) => (messageId === null ? (deviceId ?? []) : []))
  const [messages, devices] = await Promise.all([
    findMessages(db, accountId, [...new Set(ids)]),
    findEventDevices(db, accountId, [...new Set(deviceIds)]),
  ])
  return events.map((event) => ({
    ...event,
    message: messages.get(event.messageId ?? ''),
    device: devices.get(event.deviceId ?? 0),
  }))
}

/** Deleted ones included. */
async function findEventDevices(
  db: Database,
  accountId: number,
  deviceIds: number[],
): Promise<Map<number, EventDevice>> {
  if (deviceIds.length === 0) return new Map()
  const found = await db.$client<EventDevice[]>`
    SELECT id, sender, name FROM devices WHERE id = ANY (${deviceIds}::int[]) AND account_id = ${accountId}`
  return new Map(found.map((device) => [device.id, device]))
}

type StoredEvent = Omit<EventRow, 'message' | 'device'>
type StoredPage = Omit<EventPage, 'events'> & { events: StoredEvent[] }

async function readPage(
  db: Database,
  accountId: number,
  { after, limit, types, deviceId, deviceIds }: EventFilter & { after: EventPosition; limit: number },
): Promise<StoredPage> {
  const hasFilter = types !== undefined || deviceId !== undefined || deviceIds !== undefined
  const rowsMax = hasFilter ? Math.max(scannedMax, limit) : limit
  // Events are recorded up to 18 hours before earlier ones, unless the clock of Postgres goes back.
  let times: RecordedTimes = {
    since: new Date(Math.max(0, after.seconds * 1000 - dayMs)).toISOString(),
    until: null,
  }
  for (;;) {
    const page = await scan(db, accountId, { after, types, deviceId, deviceIds, rowsMax, times })
    if (!page.widerTimes) return toPage(page, { after, limit, rowsMax })
    times = page.widerTimes
  }
}

type Scan = EventFilter & { after: EventPosition; rowsMax: number; times: RecordedTimes }

async function scan(
  db: Database,
  accountId: number,
  { after, types, deviceId, deviceIds, rowsMax, times }: Scan,
): Promise<ScannedPage> {
  const sql = db.$client
  const isWanted = sql`(${types ?? null}::smallint[] IS NULL OR type = ANY (${types ?? null}::smallint[]))
    AND (${deviceId ?? null}::int IS NULL OR device_id IS NOT DISTINCT FROM ${deviceId ?? null}::int)
    AND (${deviceIds ?? null}::int[] IS NULL OR device_id = ANY (${deviceIds ?? null}::int[]))`
  const since = sql`${times.since}::timestamptz`
  const until = sql`coalesce(${times.until}::timestamptz, now() + interval '1 day')`
  const [page] = await sql<ScannedPage[]>`
    WITH horizon AS MATERIALIZED (
      SELECT event_epoch AS epoch, pg_snapshot_xmin(pg_current_snapshot()) AS tx, follows.* FROM installation,
        ${timesAfter(sql, { epoch: sql`${after.epoch}::int` })} AS follows
    ),
    -- Hides the position and the limit from the planner. All events have the same epoch, so it would expect none with a
    -- higher one, and sort all that follow. For a limit that it knows it would make a new plan each time, which takes
    -- longer than reading a short page.
    given AS MATERIALIZED (
      SELECT ${accountId}::int AS account_id, ${after.epoch}::int AS epoch, ${after.tx}::text::xid8 AS tx,
        ${after.id}::bigint AS id, ${rowsMax}::int AS rows_max
    ),
    scanned AS MATERIALIZED (
      SELECT *, ${isWanted} AS is_wanted FROM events
      WHERE account_id = (SELECT account_id FROM given) AND (epoch, tx, id) > (SELECT epoch, tx, id FROM given)
        AND (epoch < (SELECT epoch FROM horizon) OR tx < (SELECT tx FROM horizon))
        AND created_at >= ${since} AND created_at < ${until}
      ORDER BY epoch, tx, id LIMIT (SELECT rows_max FROM given)
    )
    SELECT horizon.epoch AS "horizonEpoch", horizon.tx::text AS "horizonTx",
      -- No later than events that may follow, if the clock is ahead.
      floor(extract(epoch FROM least(now(), horizon.present_until)))::float8 AS "nowSeconds",
      CASE WHEN horizon.since < ${since} OR horizon.until > ${until} THEN
        json_build_object('since', least(horizon.since, ${since}), 'until', horizon.until)
      END AS "widerTimes",
      -- In one value: reading thousands of them would take longer than everything else here.
      (SELECT coalesce(json_agg(json_build_object(${eventFields(sql)}, 'isWanted', is_wanted)
        ORDER BY epoch, tx, scanned.id), '[]') FROM scanned) AS scanned
    FROM horizon`
  if (!page) throw new Error('The installation has no row')
  return page
}

function toPage(
  { scanned, ...horizon }: ScannedPage,
  { after, limit, rowsMax }: { after: EventPosition; limit: number; rowsMax: number },
): StoredPage {
  const events = scanned.filter(({ isWanted }) => isWanted).map(toEvent)
  const shown = events.slice(0, limit)
  const lastShown = shown.at(-1)
  if (lastShown && events.length >= limit) return { events: shown, next: lastShown.position, hasMore: true }
  const lastScanned = scanned.at(-1)
  if (lastScanned && scanned.length === rowsMax)
    return { events: shown, next: toEvent(lastScanned).position, hasMore: true }
  return { events: shown, next: horizonOf(horizon, after), hasMore: false }
}

/** All events before it have been read. */
function horizonOf(
  {
    horizonEpoch: epoch,
    horizonTx: tx,
    nowSeconds: seconds,
  }: Pick<ScannedPage, 'horizonEpoch' | 'horizonTx' | 'nowSeconds'>,
  after: EventPosition,
): EventPosition {
  const isAhead = after.epoch > epoch || (after.epoch === epoch && BigInt(after.tx) >= BigInt(tx))
  return isAhead ? after : { epoch, tx, id: '0', seconds }
}

export function toEvent({
  epoch,
  tx,
  id,
  seconds,
  type,
  deviceId,
  messageId,
  data,
  at,
  createdAt,
}: ScannedEvent) {
  return { position: { epoch, tx, id, seconds }, type, deviceId, messageId, data, at, createdAt }
}

/** After all events that can be read now. */
export async function findLatestPosition(db: Database): Promise<EventPosition> {
  const sql = db.$client
  const [row] = await sql<{ epoch: number; tx: string; seconds: number }[]>`
    SELECT event_epoch AS epoch, pg_snapshot_xmin(pg_current_snapshot())::text AS tx,
      floor(extract(epoch FROM least(now(), present_until)))::float8 AS seconds
    FROM installation, ${timesAfter(sql, { epoch: sql`event_epoch` })} AS follows`
  if (!row) throw new Error('The installation has no row')
  return { ...row, id: '0' }
}

const dayMs = 86_400_000

/** Whether events that follow this position may have been deleted. */
export async function isPositionExpired(db: Database, { epoch, seconds }: EventPosition): Promise<boolean> {
  const atMs = seconds * 1000
  if (seconds === 0 || atMs >= Date.now() - dayMs) return false
  return (await wasDropped(db.$client, 'events', atMs)) && !(await isLastOf(db, epoch, seconds))
}

/** Whether no event was recorded after a position that has this time: it is from after the last one, long ago. */
async function isLastOf(db: Database, epoch: number, seconds: number): Promise<boolean> {
  const found = await db.$client`
    SELECT FROM installation JOIN event_epochs ON epoch = event_epoch
    WHERE epoch = ${epoch}::int AND ${seconds}::float8 >= floor(extract(epoch FROM until))`
  return found.count > 0
}
