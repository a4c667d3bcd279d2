import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../devnet/src/test-database.ts'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { keepHouse } from '../src/queries/housekeeping.ts'

let test: Awaited<ReturnType<typeof createTestDatabase>>
let db: Database

beforeAll(async () => {
  test = await createTestDatabase()
  db = openDatabase(test.url, { poolSize: 3, applicationName: 'test', statementTimeoutMs: 4000 })
})

afterAll(async () => {
  await closeDatabase(db)
  await test.drop()
})

async function countPartitions(): Promise<number> {
  const rows = await db.$client`SELECT 1 FROM pg_inherits WHERE inhparent = 'messages'::regclass`
  return rows.length
}

/** A partition of a week long ago with one message in it. */
async function addOldPartition(name: string, from: string, to: string, status: string): Promise<void> {
  await db.$client.unsafe(
    `CREATE TABLE ${name} PARTITION OF messages FOR VALUES FROM ('${from}') TO ('${to}')`,
  )
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, created_at, direction, type, sender, number, status, wa_id, link_generation)
    VALUES (gen_random_uuid(), 1, 1, ${from}, 'out', 'text', '1', '2', ${status}, 'X', 1)`
}

describe('housekeeping', () => {
  it('makes partitions that are missing ahead, and finds nothing to do afterwards', async () => {
    const before = await countPartitions()
    const [last] = await db.$client<{ name: string }[]>`
      SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'messages'::regclass
      ORDER BY 1 DESC LIMIT 1`
    await db.$client.unsafe(`DROP TABLE ${last?.name}`)
    await keepHouse(db, { retentionDays: 30 })
    expect(await countPartitions()).toBe(before)
    await keepHouse(db, { retentionDays: 30 })
    expect(await countPartitions()).toBe(before)
  })

  it('drops what is older than the retention, but nothing that still waits to be sent', async () => {
    await addOldPartition('messages_done', '2020-01-02', '2020-01-09', 'read')
    await addOldPartition('messages_waiting_2020', '2020-01-09', '2020-01-16', 'queued')
    const before = await countPartitions()
    expect(await keepHouse(db, { retentionDays: 30 })).toEqual({ droppedPartitions: ['messages_done'] })
    expect(await countPartitions()).toBe(before - 1)
  })

  it('forgets expired idempotency keys and media that nobody waits for', async () => {
    await db.$client`
      INSERT INTO idempotency_keys (account_id, operation, key, payload_hash, created_at)
      VALUES (1, 'send-message', 'old', '', now() - interval '25 hours'), (1, 'send-message', 'new', '', now())`
    await db.$client`
      INSERT INTO media_blobs (message_id, account_id, mime, bytes, created_at)
      VALUES (gen_random_uuid(), 1, 'image/png', '', now() - interval '2 hours'), (gen_random_uuid(), 1, 'image/png', '', now())`
    await keepHouse(db, { retentionDays: 30 })
    expect(await db.$client`SELECT key FROM idempotency_keys`).toEqual([{ key: 'new' }])
    expect(await db.$client`SELECT 1 FROM media_blobs`).toHaveLength(1)
  })

  it('deletes entries of the audit log past the retention, and no other', async () => {
    await db.$client`
      INSERT INTO audit_log (operation, target, result, created_at)
      VALUES ('create-key', 'key:1', 'created', now() - interval '31 days'),
        ('create-key', 'key:2', 'created', now() - interval '29 days'), ('create-key', 'key:3', 'created', now())`
    await keepHouse(db, { retentionDays: 30 })
    expect(await db.$client`SELECT target FROM audit_log ORDER BY id`).toEqual([
      { target: 'key:2' },
      { target: 'key:3' },
    ])
  })

  it('leaves it to whoever is at it already', async () => {
    await db.$client.begin(async (other) => {
      await other`SELECT pg_advisory_xact_lock(7767429)`
      expect(await keepHouse(db, { retentionDays: 30 })).toBeUndefined()
    })
    expect(await keepHouse(db, { retentionDays: 30 })).toBeDefined()
  })
})
