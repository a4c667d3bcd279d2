import type postgres from 'postgres'
import { isLinkedIn } from './linked-device.ts'

type Fragment = postgres.PendingQuery<postgres.Row[]>

/**
 * A message that is older than send_at (30 days) and MESSAGE_TTL_MS (30 days) together allow has expired, so older
 * partitions need not be read. The upper bound allows for a clock of Postgres that was set back.
 */
export const isRecent = (sql: postgres.Sql, table?: string) =>
  sql`${table ? sql`${sql(table)}.` : sql``}created_at BETWEEN now() - interval '62 days' AND now() + interval '1 day'`

/** `priority`: of one only, as SQL. `after`: leaves out messages without `send_at` up to this number. */
type Limits = { priority?: Fragment; where?: Fragment; limit?: number; after?: number | undefined }

/**
 * The messages of a device that may be sent now, as a relation for FROM, in no order. It takes two index scans, and reads
 * no scheduled message that is not due. Messages that were accepted for another link are left out. With a limit, these
 * are the first ones without `send_at` and the first scheduled ones.
 */
export function dueMessages(sql: postgres.Sql, deviceId: number, limits: Limits = {}): Fragment {
  const linkGeneration = sql`(
    SELECT link_generation FROM devices AS device WHERE id = ${deviceId} AND ${isLinkedIn(sql, 'device')})`
  return dueOf(sql, { id: sql`${deviceId}`, linkGeneration }, limits)
}

/** The same for the row `device` of the statement, which must be linked. For LATERAL. */
export function dueMessagesOfRow(sql: postgres.Sql, limits: Limits): Fragment {
  return dueOf(sql, { id: sql`device.id`, linkGeneration: sql`device.link_generation` }, limits)
}

function dueOf(
  sql: postgres.Sql,
  device: { id: Fragment; linkGeneration: Fragment },
  { priority, where = sql``, limit, after }: Limits,
): Fragment {
  const waiting = sql`
    SELECT * FROM messages WHERE device_id = ${device.id} AND is_waiting AND ${isRecent(sql)}
      AND link_generation = ${device.linkGeneration}`
  const first = (order: Fragment) => (limit === undefined ? sql`` : sql`ORDER BY ${order} LIMIT ${limit}`)
  const isLater = after === undefined ? sql`` : sql`AND seq > ${after}`
  if (!priority) {
    return sql`(
      (${waiting} AND send_at IS NULL ${isLater} ${where} ${first(sql`seq`)})
      UNION ALL
      (${waiting} AND send_at <= now() ${where} ${first(sql`send_at, seq`)}))`
  }
  const { ready, scheduled } = dueOfPriority(sql, priority)
  return sql`(
    (${waiting} AND ${ready} ${isLater} ${where} ${first(sql`priority, seq`)})
    UNION ALL
    (${waiting} AND ${scheduled} ${where} ${first(sql`priority, send_at, seq`)}))`
}

/**
 * SQL: the due messages of one priority, those without `send_at` in the order of priority and seq, the others in that of
 * priority, send_at and seq. As ranges, and with the priority in the order, so that only the indexes by priority fit: with an
 * equality, Postgres may read those without it, past all messages of the other priorities.
 */
export const dueOfPriority = (sql: postgres.Sql, priority: Fragment) => ({
  ready: sql`send_at IS NULL AND priority BETWEEN ${priority} AND ${priority}`,
  scheduled: sql`send_at IS NOT NULL AND (priority, send_at) > (${priority}, '-infinity')
    AND (priority, send_at) <= (${priority}, now())`,
})

/**
 * Whether the device of this name in the statement has a due message. ORDER BY makes Postgres read a single entry of the
 * index. Without it, it has read all waiting messages: 90 ms for a million.
 */
export const hasDueMessage = (sql: postgres.Sql, device: 'device' | 'devices') => sql`coalesce(
  (SELECT true FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at IS NULL AND ${isRecent(sql)}
    ORDER BY seq LIMIT 1),
  (SELECT true FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at <= now() AND ${isRecent(sql)}
    ORDER BY send_at, seq LIMIT 1),
  false)`

/** For how many ms the oldest due message of the device has been due, as cheaply. Null without one. */
export const oldestDueMs = (
  sql: postgres.Sql,
  device: 'device' | 'devices',
) => sql`(extract(epoch FROM now() - least(
  (SELECT created_at FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at IS NULL AND ${isRecent(sql)}
    ORDER BY seq LIMIT 1),
  (SELECT send_at FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at <= now() AND ${isRecent(sql)}
    ORDER BY send_at, seq LIMIT 1))) * 1000)::float8`

/** Whether any message waits for the device, also one that is scheduled or has expired. */
export const hasWaitingMessage = (sql: postgres.Sql, device: 'device' | 'devices') => sql`coalesce(
  (SELECT true FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at IS NULL ORDER BY seq LIMIT 1),
  (SELECT true FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at IS NOT NULL ORDER BY send_at, seq LIMIT 1),
  false)`
