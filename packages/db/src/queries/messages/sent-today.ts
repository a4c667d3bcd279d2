import type { Database } from '../../client.ts'
import { dueMessages, isRecent } from '../devices/due-messages.ts'

type SentToday = {
  sent: number
  unanswered: string[]
  lately: Record<string, number>
  newContacts: string[]
  nowMs: number
}

/**
 * What counts towards the daily cap of a device: how many messages it has sent since midnight UTC, and the WhatsApp ids
 * of those that may have been sent without an acknowledgement. A message may have been accepted long before. `lately`: for
 * each recipient of the last `latelyMs` (of one whose number is known, its address), how many ms ago the latest message to it was acknowledged. `newContacts`: the
 * numbers of those that count today. `nowMs`: the time of Postgres, which decides what today is.
 */
export async function findSentToday(db: Database, deviceId: number, latelyMs: number): Promise<SentToday> {
  const sql = db.$client
  // A message may have left for the LID of a contact whose number is known.
  const recipient = sql`CASE WHEN recipient_jid LIKE '%@lid' AND number NOT LIKE '%@lid'
    THEN number || '@s.whatsapp.net' ELSE recipient_jid END`
  const [row] = await sql<SentToday[]>`
    SELECT
      (SELECT count(*)::int FROM messages
        WHERE device_id = ${deviceId} AND sent_at >= date_trunc('day', now(), 'UTC') AND ${isRecent(sql)}) AS sent,
      ARRAY(SELECT wa_id FROM ${dueMessages(sql, deviceId)} AS due WHERE status = 'sending') AS unanswered,
      (SELECT coalesce(json_object_agg(recipient_jid, ms), '{}') FROM (
        SELECT ${recipient} AS recipient_jid,
          (extract(epoch FROM now() - max(sent_at)) * 1000)::float8 AS ms FROM messages
        WHERE device_id = ${deviceId} AND sent_at > now() - ${latelyMs} * interval '1 ms' AND ${isRecent(sql)}
          AND recipient_jid IS NOT NULL
        GROUP BY 1
      ) AS recipient) AS lately,
      ARRAY(SELECT number FROM new_contacts
        WHERE device_id = ${deviceId} AND created_at >= date_trunc('day', now(), 'UTC')) AS "newContacts",
      (extract(epoch FROM now()) * 1000)::float8 AS "nowMs"`
  if (!row) throw new Error('A query without FROM returned no row')
  return row
}
