import type { Database } from '@wagate/db/client'

/** Rows of each kind. */
export type Size = { expiring: number; keys: number; scheduled: number; unlinked: number }

/** Each has its own shard. Accepts go to the first, which is not changed otherwise. */
export const devices = { accepting: 1, expiring: 2, scheduled: 3, unlinked: 4 }

const rowsAtOnce = 20_000
const workerId = '00000000-0000-4000-8000-000000000001'
export const fenceOf = (device: number) => ({ shard: device, workerId, epoch: 1 })

export async function fillTables(sql: Database['$client'], size: Size): Promise<void> {
  await sql`UPDATE shard_leases SET owner = ${workerId}, epoch = 1`
  await sql`
    INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('bench@example.com', '', 'USER', 0)`
  await sql`
    INSERT INTO devices (id, shard, account_id, sender, name, desired, link_generation, has_credentials, connection)
    SELECT n, n, (SELECT max(id) FROM accounts), (15550000000 + n)::text, '', 'linked', 1, n <> ${devices.unlinked}, 'online'
    FROM generate_series(1, 50) AS n`
  await insertWaiting(sql, devices.expiring, size.expiring, sql`now() - interval '73 hours'`, sql`NULL`)
  await insertWaiting(sql, devices.scheduled, size.scheduled, sql`now()`, sql`now() + interval '10 days'`)
  await insertWaiting(sql, devices.unlinked, size.unlinked, sql`now()`, sql`NULL`)
  await inSteps(size.keys, async (first, last) => {
    await sql`
      INSERT INTO idempotency_keys (account_id, operation, key, payload_hash, created_at)
      SELECT 1, 'send-message', 'key-' || n, '\\x00'::bytea, now() - interval '48 hours' + n * interval '1 ms'
      FROM generate_series(${first}::int, ${last}::int) AS n`
  })
  for (const table of ['messages', 'idempotency_keys', 'devices']) await sql.unsafe(`ANALYZE ${table}`)
}

type Fragment = ReturnType<Database['$client']>

async function insertWaiting(
  sql: Database['$client'],
  device: number,
  count: number,
  at: Fragment,
  sendAt: Fragment,
): Promise<void> {
  await inSteps(count, async (first, last) => {
    await sql`
      INSERT INTO messages (id, account_id, device_id, created_at, direction, type, sender, number, body, status,
        wa_id, link_generation, send_at)
      SELECT gen_random_uuid(), 1, ${device}, ${at}, 'out', 'text', (15550000000 + ${device}::int)::text,
        (15560000000 + n)::text, 'A text as people write it', 'queued', '3EB0' || n, 1, ${sendAt}
      FROM generate_series(${first}::int, ${last}::int) AS n`
  })
}

async function inSteps(count: number, step: (first: number, last: number) => Promise<void>): Promise<void> {
  for (let first = 1; first <= count; first += rowsAtOnce) {
    await step(first, Math.min(count, first + rowsAtOnce - 1))
  }
}
