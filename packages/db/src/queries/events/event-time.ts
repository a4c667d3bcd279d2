import type { EventPosition } from '@wagate/shared/event-ids'
import type { Database } from '../../client.ts'
import { timesAfter } from '../statements/recorded-times.ts'

/**
 * A position before all events of the account that were recorded at this time or later. It may be before some that were
 * recorded up to ten seconds earlier: the order of events is that of their transactions, whose times differ by no more.
 * Finds it by bisection in the epoch that had begun at that time, as no index has the time.
 */
export async function findPositionAt(db: Database, accountId: number, time: Date): Promise<EventPosition> {
  const sql = db.$client
  const at = sql`${time.toISOString()}::timestamptz - interval '10 seconds'`
  const [row] = await sql<{ epoch: number; tx: string; seconds: number }[]>`
    WITH RECURSIVE last AS MATERIALIZED (
      -- The number of an epoch is no less than the time at which it began.
      SELECT epoch, tx FROM events WHERE account_id = ${accountId} AND epoch <= extract(epoch FROM ${at})
      ORDER BY epoch DESC, tx DESC, id DESC LIMIT 1
    ),
    stream AS MATERIALIZED (
      SELECT coalesce(last.epoch, 0) AS epoch, coalesce(last.tx::text::bigint + 1, 0) AS end,
        CASE last.epoch WHEN event_epoch THEN pg_snapshot_xmin(pg_current_snapshot())::text::bigint END AS horizon,
        greatest(now(), until) + interval '1 day' AS until, least(now(), present_until) AS present_time
      FROM installation LEFT JOIN last ON true
        CROSS JOIN ${timesAfter(sql, { epoch: sql`coalesce(last.epoch, 0)` })} AS follows
    ),
    search (low, high) AS (
      SELECT 0::bigint, least(stream.end, horizon) FROM stream
      UNION ALL
      SELECT CASE WHEN found.is_earlier THEN found.tx + 1 ELSE low END,
        CASE WHEN found.is_earlier THEN high ELSE (low + high) / 2 END
      FROM search LEFT JOIN LATERAL (
        SELECT created_at < ${at} AS is_earlier, tx::text::bigint AS tx FROM events
        WHERE account_id = ${accountId} AND epoch = (SELECT epoch FROM stream)
          AND tx >= ((low + high) / 2)::text::xid8
          -- Excludes the partitions of the next weeks.
          AND created_at < (SELECT until FROM stream)
        -- Of the table: the bigint of the same name has no index.
        ORDER BY events.tx, events.id LIMIT 1
      ) AS found ON true
      WHERE low < high
    )
    SELECT CASE low WHEN 0 THEN 0 ELSE stream.epoch END AS epoch, low::text AS tx,
      greatest(floor(extract(epoch FROM least(${at}, present_time))), 0)::float8 AS seconds
    FROM search, stream WHERE low >= high`
  if (!row) throw new Error('The installation has no row')
  return { ...row, id: '0' }
}
