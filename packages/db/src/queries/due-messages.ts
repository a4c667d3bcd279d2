import type postgres from 'postgres'
import { isLinkedIn } from './device-status.ts'

type Fragment = postgres.PendingQuery<postgres.Row[]>

/**
 * What waits longer than send_at (30 days) and MESSAGE_TTL_MS (30 days) allow is not sent any more: it expires. The
 * bound spares the older partitions. The upper one leaves room for a clock of Postgres that was set back.
 */
const isRecent = (sql: postgres.Sql) =>
  sql`created_at BETWEEN now() - interval '62 days' AND now() + interval '1 day'`

/**
 * The messages of a device that may be sent now, as a relation for FROM, in no order. Two index scans: scheduled
 * messages that are not due are never read, however many there are. What was accepted for another link is left out.
 * With a limit it is the first of the ready and the first of the scheduled ones.
 */
export function dueMessages(
  sql: postgres.Sql,
  deviceId: number,
  { where = sql``, limit }: { where?: Fragment; limit?: number } = {},
): Fragment {
  const isOfLink = sql`link_generation = (
    SELECT link_generation FROM devices AS device WHERE id = ${deviceId} AND ${isLinkedIn(sql, 'device')})`
  const waiting = sql`
    SELECT * FROM messages WHERE device_id = ${deviceId} AND is_waiting AND ${isRecent(sql)} AND ${isOfLink}`
  const first = (order: Fragment) => (limit === undefined ? sql`` : sql`ORDER BY ${order} LIMIT ${limit}`)
  return sql`(
    (${waiting} AND send_at IS NULL ${where} ${first(sql`seq`)})
    UNION ALL
    (${waiting} AND send_at <= now() ${where} ${first(sql`send_at, seq`)}))`
}

/**
 * Whether a device, of this name in the query, has a message that is due. Only with an order does Postgres read a
 * single entry of the index; without one it has read all that wait, 90 ms for a million.
 */
export const hasDueMessage = (sql: postgres.Sql, device: 'device' | 'devices') => sql`coalesce(
  (SELECT true FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at IS NULL AND ${isRecent(sql)}
    ORDER BY seq LIMIT 1),
  (SELECT true FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at <= now() AND ${isRecent(sql)}
    ORDER BY send_at, seq LIMIT 1),
  false)`

/** Whether anything waits for a device, scheduled or not, however old. */
export const hasWaitingMessage = (sql: postgres.Sql, device: 'device' | 'devices') => sql`coalesce(
  (SELECT true FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at IS NULL ORDER BY seq LIMIT 1),
  (SELECT true FROM messages
    WHERE device_id = ${sql(device)}.id AND is_waiting AND send_at IS NOT NULL ORDER BY send_at, seq LIMIT 1),
  false)`
