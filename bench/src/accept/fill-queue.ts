import type { Database } from '@wagate/db/client'
import { vacuumTables } from '../vacuum-tables.ts'

export type Queue = { devices: number; messages: number }

const messagesAtOnce = 50_000
/** Above those of senders that were linked. */
const firstDevice = 1_000_000

/** Removes what an earlier run has left in a data folder that is kept. */
export async function clearQueue(sql: Database['$client']): Promise<void> {
  await sql`DELETE FROM messages WHERE device_id >= ${firstDevice}`
  await sql`DELETE FROM devices WHERE id >= ${firstDevice}`
}

/** Adds linked senders to the account, and messages that wait for them. */
export async function fillQueue(
  sql: Database['$client'],
  accountId: number,
  { devices, messages }: Queue,
): Promise<void> {
  await sql`
    INSERT INTO devices (id, shard, account_id, sender, name, desired, link_generation, has_credentials, connection)
    SELECT ${firstDevice}::int + n, 0, ${accountId}, (15770000000 + n)::text, '', 'linked', 1, true, 'online'
    FROM generate_series(0, ${devices - 1}::int) AS n`
  for (let first = 0; first < messages; first += messagesAtOnce) {
    await sql`
      INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
        link_generation)
      SELECT gen_random_uuid(), ${accountId}, ${firstDevice}::int + n % ${devices}::int, 'out', 'text',
        (15770000000 + n % ${devices}::int)::text, '15550000001', 'A text as people write it', 'queued', '3EB0' || n, 1
      FROM generate_series(${first}::int, ${Math.min(first + messagesAtOnce, messages) - 1}::int) AS n`
  }
  await vacuumTables(sql)
}
