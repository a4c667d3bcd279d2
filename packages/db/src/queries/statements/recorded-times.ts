import type postgres from 'postgres'

/**
 * SQL: when the events that follow a position may have been recorded, as one row of `since` and `until`, for a query of
 * `installation`. `since` is null as long as none of them is from a later epoch and the clock has not gone back: then it is
 * less than a day before the time of the position. `present_until`: of those that are still to come.
 */
export const timesAfter = (sql: postgres.ISql, { epoch }: { epoch: postgres.Fragment }) => sql`
  LATERAL (
    SELECT min(since) FILTER (WHERE event_epochs.epoch > ${epoch} OR NOT is_steady) AS since, max(until) AS until,
      max(until) FILTER (WHERE event_epochs.epoch = installation.event_epoch) AS present_until
    FROM event_epochs WHERE event_epochs.epoch >= ${epoch}
  )`

/** SQL: whether reading only what was recorded from a day before a position until tomorrow may leave out events that follow. */
export const mayBeElsewhere = (
  sql: postgres.ISql,
  { epoch, seconds }: { epoch: postgres.Fragment; seconds: postgres.Fragment },
) => sql`
  EXISTS (
    SELECT FROM installation, ${timesAfter(sql, { epoch })} AS follows
    WHERE since < to_timestamp(${seconds}) - interval '1 day' OR until > now() + interval '1 day'
  )`
