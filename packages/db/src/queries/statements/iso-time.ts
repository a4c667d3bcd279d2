import type postgres from 'postgres'

/** SQL text: a time as Date.toISOString writes it. */
export const isoText = (time: string) =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The same as SQL. */
export const iso = (sql: postgres.Sql, time: string) => sql.unsafe(isoText(time))
