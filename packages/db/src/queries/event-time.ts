import type { EventPosition } from '@wagate/shared/event-ids'
import type { Database } from '../client.ts'

/**
 * A position before all events of the account that were recorded at this time or later. It may be before some that were
 * recorded up to ten seconds earlier: the order of events is that of their transactions, whose times differ by no more.
 * Finds it by bisection, as no index has the time.
 */
export async function findPositionAt(db: Database, accountId: number, time: Date): Promise<EventPosition> {
  const sql = db.$client
  const at = sql`${time.toISOString()}::timestamptz - interval '10 seconds'`
  const [row] = await sql<{ epoch: number; tx: string; seconds: number }[]>`
    WITH RECURSIVE stream AS (
      SELECT event_epoch AS epoch, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS tx FROM installation
    ),
    search (low, high) AS (
      SELECT 0::bigint, tx FROM stream
      UNION ALL
      SELECT CASE WHEN found.is_earlier THEN found.tx + 1 ELSE low END,
        CASE WHEN found.is_earlier THEN high ELSE (low + high) / 2 END
      FROM search LEFT JOIN LATERAL (
        SELECT created_at < ${at} AS is_earlier, tx::text::bigint AS tx FROM events
        WHERE account_id = ${accountId} AND epoch = (SELECT epoch FROM stream)
          AND tx >= ((low + high) / 2)::text::xid8
          -- Excludes the partitions of the next weeks.
          AND created_at < now() + interval '1 day'
        -- Of the table: the bigint of the same name has no index.
        ORDER BY events.tx, events.id LIMIT 1
      ) AS found ON true
      WHERE low < high
    )
    SELECT CASE low WHEN 0 THEN 0 ELSE stream.epoch END AS epoch, low::text AS tx,
      greatest(floor(extract(epoch FROM ${at})), 0)::float8 AS seconds
    FROM search, stream WHERE low >= high`
  if (!row) throw new Error('The installation has no row')
  return { ...row, id: '0' }
}
