import type { Database } from '../../client.ts'
import { listOf } from '../statements/rows.ts'
import { isRunning } from '../statements/worker-state.ts'
import { isRecent } from './due-messages.ts'

/** How many messages of each device are due. Counts no further than `countMax` of those without `send_at`, and of the others. */
export async function countDueMessages(
  db: Database,
  deviceIds: number[],
  countMax: number,
): Promise<{ id: number; due: number }[]> {
  const sql = db.$client
  return sql<{ id: number; due: number }[]>`
    SELECT device.id, (
      (SELECT count(*) FROM (
        SELECT FROM messages WHERE device_id = device.id AND is_waiting AND send_at IS NULL AND ${isRecent(sql)}
        ORDER BY seq LIMIT ${countMax}) AS ready)
      + (SELECT count(*) FROM (
        SELECT FROM messages WHERE device_id = device.id AND is_waiting AND send_at <= now() AND ${isRecent(sql)}
        ORDER BY send_at, seq LIMIT ${countMax}) AS scheduled)
    )::int AS due
    FROM devices AS device WHERE device.id = ANY(${listOf(deviceIds)}::int[])`
}

/** How many messages are due of devices without a live owner, for whom no worker can say it. Counts no further than `countMax`. */
export async function countUnownedMessages(db: Database, countMax: number): Promise<number> {
  const sql = db.$client
  const [row] = await sql<{ due: number }[]>`
    SELECT count(*)::int AS due FROM (
      SELECT FROM devices AS device CROSS JOIN LATERAL (
        SELECT FROM messages WHERE device_id = device.id AND is_waiting AND send_at IS NULL AND ${isRecent(sql)}
        ORDER BY seq LIMIT ${countMax}) AS ready
      WHERE device.has_credentials AND NOT EXISTS (
        SELECT FROM shard_leases JOIN workers ON workers.id = shard_leases.owner
        WHERE shard_leases.shard = device.shard AND ${sql.unsafe(isRunning('workers'))})
      LIMIT ${countMax}
    ) AS message`
  return row?.due ?? 0
}
