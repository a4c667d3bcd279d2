import type { Database } from '@wagate/db/client'
import { makeOldPartitions } from '../old-partitions.ts'
import { vacuumTables } from '../vacuum-tables.ts'

export type Size = { workers: number; shards: number; devices: number; messages: number; weeks: number }

const messagesAtOnce = 50_000

/** Fills the tables of an installation of this size: all senders linked and online, all workers live, no messages waiting. */
export async function fillInstallation(sql: Database['$client'], size: Size): Promise<void> {
  const { workers, shards, devices, messages, weeks } = size
  await sql`
    INSERT INTO workers (id, name, state, capacity, lease_until, session_pid, session_since, session_name,
      renewed_since, started_at)
    SELECT gen_random_uuid(), 'worker-' || n, 'live', 500, now() + interval '1 hour', pg_backend_pid(), now(),
      'bench', now() - interval '1 hour', now() - interval '1 hour' + n * interval '1 ms'
    FROM generate_series(1, ${workers}::int) AS n`
  await sql`
    UPDATE shard_leases SET epoch = 1, owner = (
      SELECT id FROM workers WHERE name = 'worker-' || shard % ${workers}::int + 1)`
  await sql`
    INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('bench@example.com', '', 'USER', 0)`
  await sql`
    INSERT INTO devices (id, shard, account_id, sender, name, desired, link_generation, has_credentials, connection)
    SELECT n, n % ${shards}::int, 1, (15550000000 + n)::text, '', 'linked', 1, true, 'online'
    FROM generate_series(1, ${devices}::int) AS n`
  await sql`
    INSERT INTO device_auth (device_id, type, id, value)
    SELECT n, 'creds', '', decode(repeat('ab', 2000), 'hex') FROM generate_series(1, ${devices}::int) AS n`
  await makeOldPartitions(sql, weeks)
  for (let first = 0; first < messages; first += messagesAtOnce) {
    await sql`
      INSERT INTO messages (id, account_id, device_id, created_at, direction, type, sender, number, body, status,
        wa_id, link_generation, sent_at, delivered_at)
      SELECT gen_random_uuid(), 1, n % ${devices}::int + 1, at, 'out', 'text', '15550000000', '15550000001',
        'A text as people write it', 'delivered', '3EB0' || n, 1, at, at
      FROM generate_series(${first}::int, ${first + messagesAtOnce - 1}::int) AS n,
        LATERAL (SELECT now() - n::float8 / ${messages}::float8 * interval '28 days' AS at) AS sent`
  }
  await vacuumTables(sql)
}
