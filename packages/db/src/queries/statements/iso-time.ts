import type postgres from 'postgres'

/** SQL: a time as Date.toISOString writes it. */
export function iso(sql: postgres.Sql, time: string) {
  return sql.unsafe(`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
}
