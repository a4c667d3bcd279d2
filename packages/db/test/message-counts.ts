import type { Database } from '../src/client.ts'

export type Counts = {
  day: string
  sent: number
  delivered: number
  read: number
  failed: number
  received: number
}

/** The counts of a sender by day, of all error codes together. */
export function listCounts({ $client: sql }: Database, sender: string): Promise<Counts[]> {
  return sql<Counts[]>`
    SELECT day::text, sum(sent)::int AS sent, sum(delivered)::int AS delivered, sum(read)::int AS read,
      sum(failed)::int AS failed, sum(received)::int AS received
    FROM message_counts WHERE sender = ${sender} GROUP BY day ORDER BY day`
}

/** The same from the events of its device, which are never counted in the product. */
export function listCountsOfEvents({ $client: sql }: Database, deviceId: number): Promise<Counts[]> {
  const count = (type: number) => sql`count(*) FILTER (WHERE type = ${type})::int`
  return sql<Counts[]>`
    SELECT day, ${count(2)} AS sent, ${count(3)} AS delivered, ${count(4)} AS read, ${count(6)} AS failed,
      ${count(10)} AS received
    FROM (
      -- The content of a received message may follow, with another event.
      SELECT DISTINCT ON (message_id, type) type, (least(at, created_at) AT TIME ZONE 'UTC')::date::text AS day
      FROM events WHERE device_id = ${deviceId} AND type IN (2, 3, 4, 6, 10) ORDER BY message_id, type, tx, id
    ) AS first
    GROUP BY day ORDER BY day`
}
