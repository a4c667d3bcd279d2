import type { Database } from '../client.ts'
import { dueMessages, isRecent } from './due-messages.ts'

/**
 * What counts towards the daily cap of a device: how many messages it has sent since midnight UTC, and the WhatsApp ids
 * of those that may have been sent without an acknowledgement. A message may have been accepted long before.
 */
export async function findSentToday(
  db: Database,
  deviceId: number,
): Promise<{ sent: number; unanswered: string[] }> {
  const sql = db.$client
  const [row] = await sql<{ sent: number; unanswered: string[] }[]>`
    SELECT
      (SELECT count(*)::int FROM messages
        WHERE device_id = ${deviceId} AND sent_at >= date_trunc('day', now(), 'UTC') AND ${isRecent(sql)}) AS sent,
      ARRAY(SELECT wa_id FROM ${dueMessages(sql, deviceId)} AS due WHERE status = 'sending') AS unanswered`
  return row ?? { sent: 0, unanswered: [] }
}
