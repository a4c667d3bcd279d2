import { type Priority, priorities } from '@wagate/shared/priorities'
import type { Database } from '../../client.ts'
import { dueOfPriority, isRecent } from './due-messages.ts'

/** What waits for a device. Each count ends at the limit. */
export type SenderQueue = {
  /** Due and not yet on their way. */
  waiting: Record<Priority, number>
  /** For a later time. */
  scheduled: number
  /** Claimed, without a stored answer of WhatsApp. */
  sending: number
  /** When the oldest due one was accepted, or was due if it was scheduled, in ms since 1970. */
  oldestMs: number | null
  sentInTenMinutes: number
  sentToday: number
  /** The first ones that wait, in the order in which they may leave. */
  first: { id: string; status: string }[]
}

type Counted = { priority: number; queued: number; sending: number }

/** Undefined without such a device. `sampleMax`: how many messages `first` has at most. */
export async function findSenderQueue(
  db: Database,
  accountId: number,
  deviceId: number,
  { countMax, sampleMax }: { countMax: number; sampleMax: number },
): Promise<SenderQueue | undefined> {
  const sql = db.$client
  const waiting = sql`messages WHERE device_id = device.id AND is_waiting AND ${isRecent(sql)}
    AND link_generation = device.link_generation`
  const due = dueOfPriority(sql, sql`list.priority`)
  const oldestDue = sql`(extract(epoch FROM least(
    (SELECT created_at FROM ${waiting} AND send_at IS NULL ORDER BY seq LIMIT 1),
    (SELECT send_at FROM ${waiting} AND send_at <= now() ORDER BY send_at, seq LIMIT 1))) * 1000)::float8`
  const [row] = await sql<(Omit<SenderQueue, 'waiting' | 'sending'> & { counted: Counted[] })[]>`
    SELECT
      (SELECT json_agg(counted) FROM generate_series(0, ${priorities.length - 1}::int) AS list (priority) CROSS JOIN LATERAL (
        SELECT list.priority, count(*) FILTER (WHERE status = 'queued') AS queued,
          count(*) FILTER (WHERE status = 'sending') AS sending
        FROM (
          (SELECT status FROM ${waiting} AND ${due.ready} ORDER BY messages.priority, seq LIMIT ${countMax})
          UNION ALL
          (SELECT status FROM ${waiting} AND ${due.scheduled} ORDER BY messages.priority, send_at, seq LIMIT ${countMax})
        ) AS due
      ) AS counted) AS counted,
      (SELECT count(*)::int FROM (
        SELECT FROM ${waiting} AND send_at > now() ORDER BY send_at, seq LIMIT ${countMax}) AS later) AS scheduled,
      ${oldestDue} AS "oldestMs",
      (SELECT count(*)::int FROM (
        SELECT FROM messages WHERE device_id = device.id AND sent_at > now() - interval '10 minutes' AND ${isRecent(sql)}
        LIMIT ${countMax}) AS sent) AS "sentInTenMinutes",
      coalesce((SELECT sum(sent)::int FROM message_counts AS counts WHERE counts.day = (now() AT TIME ZONE 'UTC')::date
        AND counts.account_id = device.account_id AND counts.sender = device.sender), 0) AS "sentToday",
      coalesce((SELECT json_agg(json_build_object('id', id, 'status', status)) FROM (
        SELECT id, status FROM ${waiting} AND send_at IS NULL ORDER BY messages.priority, seq LIMIT ${sampleMax}) AS sample), '[]') AS first
    FROM devices AS device WHERE device.id = ${deviceId} AND device.account_id = ${accountId} AND device.deleted_at IS NULL`
  if (!row) return undefined
  const { counted, ...rest } = row
  const queuedOf = (priority: Priority) =>
    Math.min(countMax, counted.find((one) => priorities[one.priority] === priority)?.queued ?? 0)
  return {
    ...rest,
    waiting: { high: queuedOf('high'), normal: queuedOf('normal'), bulk: queuedOf('bulk') },
    sending: counted.reduce((sum, { sending }) => sum + sending, 0),
  }
}
