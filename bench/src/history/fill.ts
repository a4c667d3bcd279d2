import type { Database } from '@wagate/db/client'
import { makeOldPartitions } from '../old-partitions.ts'
import { vacuumTables } from '../vacuum-tables.ts'

export type Size = { messages: number; senders: number; contacts: number; weeks: number }

export const accountId = 1
const otherAccounts = 2
/** One row in this many belongs to another account. */
const otherEvery = 26
/** On a busy machine, more would take longer than 6 s, after which a silent connection counts as dead. */
const rowsAtOnce = 10_000

/** The busiest of 20 senders has 37 % of the messages and the quietest 2 %, the busiest of 200,000 contacts 5 %. */
const skew = { sender: 3, contact: 4 }

/** From 1 on. */
export const senderOf = (device: number) => String(15_550_000_000 + device)
/** From 0 on. */
export const contactOf = (index: number) => String(15_560_000_000 + index)

/** Of a contact with this number. Half of the messages from it show only that. */
export const lidOf = (number: string) => `1${number}`

/** The part of the history that has events, which are kept for a week. */
export const eventsMs = 7 * 86_400_000
/** Each statement is a transaction, as the order of transactions is that of the events. */
const changedAtOnce = 50

/** One account with all these messages, spread evenly over the weeks until now, and other accounts with a few. */
export async function fillHistory(sql: Database['$client'], size: Size, signal: AbortSignal): Promise<void> {
  const { senders, weeks } = size
  await sql`
    INSERT INTO accounts (email, password_hash, role, devices_allowed)
    SELECT 'bench-' || n || '@example.com', '', 'USER', 0 FROM generate_series(1, ${1 + otherAccounts}::int) AS n`
  await sql`
    INSERT INTO devices (id, shard, account_id, sender, name, desired, link_generation, has_credentials, connection)
    SELECT n, n, greatest(${accountId}, n - ${senders}::int + 1), (15550000000 + n)::text, '', 'linked', 1, true,
      'online'
    FROM generate_series(1, ${senders + otherAccounts}::int) AS n`
  await makeOldPartitions(sql, weeks)
  await insertMessages(sql, size, signal)
  await insertEvents(sql, signal)
  await vacuumTables(sql)
}

/** In order of time. Messages of the last three days may still be waiting. */
async function insertMessages(sql: Database['$client'], size: Size, signal: AbortSignal): Promise<void> {
  const rows = Math.ceil((size.messages * otherEvery) / (otherEvery - 1))
  const until = sql`${new Date().toISOString()}::timestamptz`
  const draw = (salt: number) => drawFrom(sql, salt)
  for (let first = 0; first < rows; first += rowsAtOnce) {
    signal.throwIfAborted()
    const last = Math.min(rows, first + rowsAtOnce) - 1
    await sql`
      WITH drawn AS (
        SELECT n, ${until} - (1 - n::float8 / ${rows}::int) * ${size.weeks}::int * interval '1 week' AS at,
          CASE n % ${otherEvery}::int WHEN 0 THEN 1 + n / ${otherEvery}::int % ${otherAccounts}::int ELSE 0 END AS other,
          1 + floor(${size.senders}::int * ${draw(1)} ^ ${skew.sender}::int)::int AS device,
          (15560000000 + floor(${size.contacts}::int * ${draw(2)} ^ ${skew.contact}::int)::int)::text AS number,
          ${draw(3)} < 0.25 AS is_received, ${draw(4)} AS status, ${draw(5)} AS type, ${draw(6)} AS length
        FROM generate_series(${first}::int, ${last}::int) AS n
      ), given AS (
        SELECT n, at, number, length, ${accountId}::int + other AS account,
          CASE other WHEN 0 THEN device ELSE ${size.senders}::int + other END AS device,
          CASE WHEN is_received THEN 'in' ELSE 'out' END AS direction,
          CASE WHEN type < 0.85 THEN 'text' WHEN type < 0.93 THEN 'image' WHEN type < 0.98 THEN 'document'
            WHEN type < 0.99 THEN 'video' ELSE 'audio' END AS type,
          CASE WHEN is_received THEN 'received'
            WHEN status < 0.02 AND at > ${until} - interval '3 days' THEN 'queued'
            WHEN status < 0.02 THEN 'failed' WHEN status < 0.025 THEN 'canceled' WHEN status < 0.1 THEN 'sent'
            WHEN status < 0.5 THEN 'delivered' ELSE 'read' END AS status
        FROM drawn
      )
      INSERT INTO messages (id, account_id, device_id, created_at, direction, type, sender, number, body, url, status,
        error_code, error, wa_id, recipient_jid, link_generation, send_at, sent_at, delivered_at, read_at)
      SELECT uuidv7(at - clock_timestamp()), account, device, at, direction, type, (15550000000 + device)::text,
        CASE WHEN direction = 'in' AND n % 2 = 0 THEN '' ELSE number END,
        left(repeat('A text as people write it. ', 12), 10 + (300 * length ^ 2)::int),
        CASE WHEN type <> 'text' AND direction = 'out' THEN 'https://files.example.com/orders/' || n || '.' || type END,
        status, CASE status WHEN 'failed' THEN 'recipient_not_on_whatsapp' END,
        CASE status WHEN 'failed' THEN 'The recipient is not on WhatsApp.' END, '3EB0' || lpad(to_hex(n), 18, '0'),
        CASE direction WHEN 'out' THEN number || '@s.whatsapp.net' ELSE '1' || number || '@lid' END, 1,
        CASE WHEN status = 'queued' AND n % 2 = 0 THEN at + interval '30 days' END,
        CASE WHEN status IN ('sent', 'delivered', 'read') THEN at + interval '1 second' END,
        CASE WHEN status IN ('delivered', 'read') THEN at + interval '2 seconds' END,
        CASE status WHEN 'read' THEN at + interval '5 minutes' END
      FROM given`
  }
}

/** In order of time: that a message was accepted or received, and that it was sent, delivered and read. */
async function insertEvents(sql: Database['$client'], signal: AbortSignal): Promise<void> {
  let last: string | undefined = new Date(Date.now() - eventsMs).toISOString()
  while (last !== undefined) {
    signal.throwIfAborted()
    const [row]: { last: string | null }[] = await sql<{ last: string | null }[]>`
      WITH changed AS (
        SELECT id, account_id, device_id, created_at, direction,
          array_position('{sent,delivered,read}', status) AS rank
        FROM messages
        WHERE account_id = ${accountId} AND created_at > ${last}::timestamptz
        ORDER BY created_at LIMIT ${changedAtOnce}
      ), events AS (
        INSERT INTO events (account_id, device_id, type, message_id, created_at)
        SELECT account_id, device_id, type, id, created_at FROM changed
        CROSS JOIN LATERAL generate_series(0, coalesce(rank, 0)) AS step
        CROSS JOIN LATERAL (SELECT CASE WHEN direction = 'in' THEN 10 ELSE step + 1 END AS type) AS event
        ORDER BY created_at, step
      )
      SELECT max(created_at)::text AS last FROM changed`
    last = row?.last ?? undefined
  }
}

/** From 0 to 1, and always the same for the same row. */
function drawFrom(sql: Database['$client'], salt: number) {
  return sql`((hashint8extended(n, ${salt}::int) & 2147483647) / 2147483648::float8)`
}
