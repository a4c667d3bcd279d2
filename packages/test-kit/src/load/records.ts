import { closeDatabase, openDatabase } from '@wagate/db/client'

/** Reads the database without the API, so that the measured processes do no work for it. */
export type Records = {
  /** Messages accepted since, which are `sent`, or further: `delivered` or `read`. */
  countSince(sinceMs: number, status: 'sent' | 'delivered'): Promise<number>
  listLinkedSenders(): Promise<string[]>
  countOnline(): Promise<number>
  /** Accepted and neither sent nor failed. */
  countWaiting(): Promise<number>
  /** How many of these senders have sent something that was accepted since. */
  countSendersSince(senders: string[], sinceMs: number): Promise<number>
  listSendersOf(worker: string): Promise<string[]>
  /** Stored values of its WhatsApp credentials. */
  countCredentials(sender: string): Promise<number>
  /** Shards that each live worker owns, by its name. */
  countShards(): Promise<Record<string, number>>
  /** Outgoing messages. */
  listMessagesSince(sinceMs: number): Promise<MessageFacts[]>
  /** Received messages. */
  listInboundSince(sinceMs: number): Promise<InboundFacts[]>
  /** Why a message is where it is, for the error of a test: the message, its sender, what waits before it, and all suspects. */
  explainMessage(waId: string): Promise<unknown>
  close(): Promise<void>
}

export type MessageFacts = {
  id: string
  waId: string
  sender: string
  number: string
  type: string
  body: string | null
  status: string
  errorCode: string | null
  createdAtMs: number
  /** When it was to be sent; null is at once. */
  sendAtMs: number | null
  sentAtMs: number | null
}

export type InboundFacts = { waId: string; sender: string; body: string | null }

export function isFinished({ status }: MessageFacts): boolean {
  return status !== 'queued' && status !== 'sending'
}

export function openRecords(databaseUrl: string): Records {
  const db = openDatabase(databaseUrl, {
    poolSize: 1,
    applicationName: 'wagate-bench',
    statementTimeoutMs: 30_000,
  })
  const sql = db.$client
  const since = (ms: number) => sql`to_timestamp(${ms / 1000}::float8)`

  return {
    async countSince(sinceMs, status) {
      const statuses = status === 'sent' ? ['sent', 'delivered', 'read'] : ['delivered', 'read']
      const [row] = await sql<{ count: number }[]>`
        SELECT count(*)::int AS count FROM messages
        WHERE created_at >= ${since(sinceMs)} AND direction = 'out' AND status::text = ANY (${statuses}::text[])`
      return row?.count ?? 0
    },
    async listLinkedSenders() {
      const rows = await sql<{ sender: string }[]>`SELECT sender FROM devices WHERE has_credentials`
      return rows.map(({ sender }) => sender)
    },
    async countOnline() {
      const [row] = await sql<{ online: number }[]>`
        SELECT count(*)::int AS online FROM devices WHERE connection = 'online'`
      return row?.online ?? 0
    },
    async countWaiting() {
      const [row] = await sql<{ waiting: number }[]>`
        SELECT count(*)::int AS waiting FROM messages WHERE is_waiting`
      return row?.waiting ?? 0
    },
    async countSendersSince(senders, sinceMs) {
      const [row] = await sql<{ senders: number }[]>`
        SELECT count(DISTINCT sender)::int AS senders FROM messages
        WHERE sender = ANY(${senders}) AND created_at > ${since(sinceMs)} AND sent_at IS NOT NULL`
      return row?.senders ?? 0
    },
    async listSendersOf(worker) {
      const rows = await sql<{ sender: string }[]>`
        SELECT device.sender FROM devices AS device
        JOIN shard_leases AS lease USING (shard) JOIN workers ON workers.id = lease.owner
        WHERE workers.name = ${worker} AND workers.state = 'live' AND device.has_credentials`
      return rows.map(({ sender }) => sender)
    },
    async countCredentials(sender) {
      const [row] = await sql<{ stored: number }[]>`
        SELECT count(*)::int AS stored FROM device_auth JOIN devices ON devices.id = device_id
        WHERE sender = ${sender}`
      return row?.stored ?? 0
    },
    async countShards() {
      const rows = await sql<{ name: string; owned: number }[]>`
        SELECT name, count(shard)::int AS owned FROM workers LEFT JOIN shard_leases ON owner = workers.id
        WHERE state = 'live' GROUP BY name`
      return Object.fromEntries(rows.map(({ name, owned }) => [name, owned]))
    },
    listMessagesSince: (sinceMs) => sql<MessageFacts[]>`
      SELECT id, wa_id AS "waId", sender, number, type, body, status, error_code AS "errorCode",
        extract(epoch FROM created_at)::float8 * 1000 AS "createdAtMs",
        extract(epoch FROM send_at)::float8 * 1000 AS "sendAtMs",
        extract(epoch FROM sent_at)::float8 * 1000 AS "sentAtMs"
      FROM messages WHERE created_at >= ${since(sinceMs)} AND direction = 'out' ORDER BY seq`,
    listInboundSince: (sinceMs) => sql<InboundFacts[]>`
      SELECT wa_id AS "waId", sender, body
      FROM messages WHERE created_at >= ${since(sinceMs)} AND direction = 'in' ORDER BY seq`,
    async explainMessage(waId) {
      const [row] = await sql`
        SELECT message.type, message.status, message.error_code, message.attempts, message.setback,
          message.interruptions, message.held_epoch, device.connection, device.login_after, lease.epoch,
          lease.died_epochs, workers.name AS owner, workers.state,
          (SELECT json_agg(json_build_object('worker', suspect_lease.owner, 'interruptions', suspect.interruptions))
            FROM messages AS suspect JOIN devices ON devices.id = suspect.device_id
            JOIN shard_leases AS suspect_lease USING (shard)
            WHERE suspect.is_waiting AND suspect.interruptions > 0) AS suspects,
          (SELECT count(*)::int FROM messages AS waiting
            WHERE waiting.device_id = device.id AND waiting.is_waiting AND waiting.seq < message.seq) AS before
        FROM messages AS message JOIN devices AS device ON device.id = message.device_id
        JOIN shard_leases AS lease USING (shard) LEFT JOIN workers ON workers.id = lease.owner
        WHERE message.wa_id = ${waId} AND message.direction = 'out'`
      return row
    },
    close: () => closeDatabase(db),
  }
}
