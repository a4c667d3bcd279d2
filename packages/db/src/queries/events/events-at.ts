import type { EventPosition } from '@wagate/shared/event-ids'
import type { EventRow } from '@wagate/shared/objects/event-object'
import type { Database } from '../../client.ts'
import { numberedRows } from '../statements/rows.ts'
import { eventFields, type ScannedEvent, toEvent, withSubjects } from './event-feed.ts'

/** `early`: readers of the stream cannot see it yet. `lost`: retention has removed it. */
export type EventAt = EventRow | 'early' | 'lost'

type Found = { isEarly: boolean; event: ScannedEvent | null }

/** What is at each of these positions, in one statement, and one each for the messages and devices of all of them. */
export async function listEventsAt(
  db: Database,
  accountId: number,
  positions: readonly EventPosition[],
): Promise<EventAt[]> {
  if (positions.length === 0) return []
  const sql = db.$client
  const found = await sql<Found[]>`
    WITH horizon AS MATERIALIZED (
      SELECT event_epoch AS epoch, pg_snapshot_xmin(pg_current_snapshot()) AS tx FROM installation
    )
    SELECT (given.epoch, given.tx::xid8) >= (horizon.epoch, horizon.tx) AS "isEarly", event.found AS event
    FROM ${numberedRows(sql, 'given', positions, {
      epoch: ['int', ({ epoch }) => epoch],
      tx: ['text', ({ tx }) => tx],
      event_id: ['bigint', ({ id }) => id],
      seconds: ['bigint', ({ seconds }) => seconds],
    })}
    CROSS JOIN horizon LEFT JOIN LATERAL (
      SELECT json_build_object(${eventFields(sql)}) AS found FROM events
      WHERE account_id = ${accountId}::int AND (epoch, tx, id) = (given.epoch, given.tx::xid8, given.event_id)
        AND created_at >= to_timestamp(given.seconds) AND created_at < to_timestamp(given.seconds + 1)
    ) AS event ON true
    ORDER BY given.position`
  const events = await withSubjects(
    db,
    accountId,
    found.flatMap(({ isEarly, event }) => (event && !isEarly ? toEvent(event) : [])),
  )
  return found.map(({ isEarly, event }) => (isEarly ? 'early' : ((event && events.shift()) ?? 'lost')))
}
