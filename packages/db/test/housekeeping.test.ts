import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { advisoryLocks } from '../src/locks.ts'
import {
  beginning,
  type DeletedBatch,
  deleteExpiredIdempotencyKeys,
  deleteExpiredMailedLinks,
  deleteLostMediaParts,
  deleteOldAuditEntries,
  deleteOldMessageCounts,
  deleteUnusedContacts,
  deleteUnusedMedia,
} from '../src/queries/retention/housekeeping.ts'

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
beforeEach(async () => {
  await db.$client`UPDATE installation SET retention_days = 30`
})

async function deleteAll(step: (after: string) => Promise<DeletedBatch>): Promise<number[]> {
  const sizes: number[] = []
  for (let after: string | undefined = beginning; after !== undefined; ) {
    const { deleted, next } = await step(after)
    sizes.push(deleted)
    after = next
  }
  return sizes
}

async function insertKeys(account: number, count: number, age: string): Promise<void> {
  await db.$client`
    INSERT INTO idempotency_keys (account_id, operation, key, payload_hash, created_at)
    SELECT ${account}, 'send-message', n::text, '', now() - ${age}::interval + n * interval '1 microsecond'
    FROM generate_series(1, ${count}::int) AS n`
}

describe('deletion of expired data', () => {
  it('deletes a limited number of expired idempotency keys at a time', async () => {
    await insertKeys(1, 12_000, '25 hours')
    await insertKeys(2, 3, '23 hours')
    expect(await deleteAll((after) => deleteExpiredIdempotencyKeys(db, after))).toEqual([5000, 5000, 2000, 0])
    const left = await db.$client`SELECT DISTINCT account_id AS account FROM idempotency_keys`
    expect(left).toEqual([{ account: 2 }])
  })

  it('deletes media without a waiting message, and keeps the others', async () => {
    await db.$client`
      WITH made AS (
        INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation, created_at)
        SELECT gen_random_uuid(), 1, 1, 'out', 'image', '1', '2', CASE WHEN n % 2 = 0 THEN 'queued' ELSE 'failed' END,
          'X', 1, now() - interval '2 hours' + n * interval '1 ms'
        FROM generate_series(1, 50) AS n RETURNING id, created_at)
      INSERT INTO media_blobs (message_id, account_id, mime, bytes, created_at)
      SELECT id, 1, 'image/png', '', created_at FROM made`
    await db.$client`
      INSERT INTO media_blobs (message_id, account_id, mime, bytes, created_at)
      VALUES (gen_random_uuid(), 1, 'image/png', '', now() - interval '3 hours'), (gen_random_uuid(), 1, 'image/png', '', now())`
    expect((await deleteAll((after) => deleteUnusedMedia(db, after))).reduce((a, b) => a + b)).toBe(26)
    const kept = await db.$client`
      SELECT count(*)::int AS kept FROM media_blobs LEFT JOIN messages ON id = message_id
      WHERE is_waiting OR media_blobs.created_at > now() - interval '1 hour'`
    expect(kept).toEqual([{ kept: 26 }])
  })

  it('deletes links of mails that have expired, and keeps the others', async () => {
    await db.$client`
      INSERT INTO mailed_links (purpose, email, hash, expires_at)
      SELECT 'sign-up', n::text, decode(lpad(n::text, 4, '0'), 'hex'), now() + (n - 2) * interval '1 hour'
      FROM generate_series(1, 4) AS n`
    expect(await deleteAll(() => deleteExpiredMailedLinks(db))).toEqual([2])
    const left = await db.$client`SELECT email FROM mailed_links ORDER BY email`
    expect(left.map(({ email }) => email)).toEqual(['3', '4'])
  })

  it('deletes a limited number of counts of messages at a time, after 400 days', async () => {
    await db.$client`
      INSERT INTO message_counts
      SELECT (now() AT TIME ZONE 'UTC')::date - 399 - n % 3, 1, n::text, '', 1, 1, 1, 1, 1
      FROM generate_series(0, 17999) AS n`
    expect(await deleteAll(() => deleteOldMessageCounts(db))).toEqual([5000, 1000])
    const left = await db.$client`
      SELECT DISTINCT (now() AT TIME ZONE 'UTC')::date - day AS age FROM message_counts ORDER BY 1`
    expect(left).toEqual([{ age: 399 }, { age: 400 }])
  })

  it('deletes parts of media that no running request can need', async () => {
    await db.$client`
      INSERT INTO media_parts (account_id, upload_id, position, bytes, created_at)
      SELECT 1, gen_random_uuid(), n, '', now() - (CASE WHEN n <= 500 THEN '2 hours' ELSE '50 minutes' END)::interval
        + n * interval '1 ms'
      FROM generate_series(1, 510) AS n`
    expect(await deleteAll((after) => deleteLostMediaParts(db, after))).toEqual([400, 100, 0])
    expect(await db.$client`SELECT 1 FROM media_parts`).toHaveLength(10)
  })

  it('deletes only entries of the audit log past the retention', async () => {
    await db.$client`
      INSERT INTO audit_log (operation, target, result, created_at)
      VALUES ('create-key', 'key:1', 'created', now() - interval '31 days'),
        ('create-key', 'key:2', 'created', now() - interval '29 days'), ('create-key', 'key:3', 'created', now())`
    await deleteAll((after) => deleteOldAuditEntries(db, 30, after))
    const targets = db.$client`SELECT target FROM audit_log ORDER BY id`
    expect(await targets).toEqual([{ target: 'key:2' }, { target: 'key:3' }])
  })

  it('refuses to delete an entry of the audit log within the retention', async () => {
    await db.$client`
      INSERT INTO audit_log (operation, target, result, created_at)
      VALUES ('create-key', 'key:young', 'created', now() - interval '29 days')`
    const tamper = db.$client`DELETE FROM audit_log WHERE target = 'key:young'`
    await expect(tamper).rejects.toThrow('append-only')
    await expect(db.$client`TRUNCATE audit_log`).rejects.toThrow('append-only')
    await expect(db.$client`UPDATE audit_log SET target = 'x'`).rejects.toThrow('append-only')
    // A worker with a shorter retention than the installation deletes only what is past both.
    await deleteAll((after) => deleteOldAuditEntries(db, 1, after))
    expect(await db.$client`SELECT 1 FROM audit_log WHERE target = 'key:young'`).toHaveLength(1)
  })

  it('deletes data of contacts without traffic for 90 days, and keeps the keys that are still needed', async () => {
    await db.$client`
      WITH account AS (
        INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a@b', '', 'USER', 1) RETURNING id)
      INSERT INTO devices (id, shard, account_id, sender, name) SELECT 9, 9, id, '1555', '' FROM account`
    const store = (type: string, id: string, days: number) => db.$client`
      INSERT INTO device_auth (device_id, type, id, value, used_on) VALUES (9, ${type}, ${id}, '', CURRENT_DATE - ${days}::int)`
    const keys = ['creds', 'pre-key', 'app-state-sync-key']
    for (const type of keys) await store(type, '1', 1000)
    for (const [user, days] of [
      ['10', 91],
      ['20', 90],
    ] as const) {
      await store('session', `${user}_1.0`, days)
      await store('sender-key', user, days)
      await store('identity-key', `${user}_1.0`, 1000)
      await store('lid-mapping', `${user}_reverse`, 1000)
      await store('user-devices', user, days)
      await store('tctoken', `${user}@lid`, days)
      await store('token-holder', user, days)
      await store('poll-secret', user, days)
    }
    await store('text-secret', 'me|old', 4)
    await store('text-secret', 'me|new', 3)
    await store('lid-mapping', '15552084120', 1000)
    await store('lid-mapping', '15552084121', 1000)
    await db.$client`
      INSERT INTO contacts (account_id, lid_jid, number)
      SELECT account_id, lid_jid, number FROM devices,
        (VALUES ('10@lid', '15552084121'), ('20@lid', '15552084120')) AS known (lid_jid, number) WHERE devices.id = 9`
    await store('tctoken', '__index', 0)
    await db.$client`
      INSERT INTO device_auth (device_id, type, id, value, used_on)
      SELECT 9, 'session', n || '_1.0', '', CURRENT_DATE - 200 FROM generate_series(1000, 12000) AS n`
    const first = await deleteAll((after) => deleteUnusedContacts(db, 3, after))
    expect(Math.max(...first)).toBeLessThanOrEqual(5000)
    // Data that belongs to a session is deleted after the session.
    await deleteAll((after) => deleteUnusedContacts(db, 3, after))
    const left = await db.$client<
      { type: string; id: string }[]
    >`SELECT type, id FROM device_auth ORDER BY type, id`
    const names = left.map(({ type, id }) => `${type} ${id}`)
    const kept = [
      'identity-key 20_1.0',
      'lid-mapping 15552084120',
      'lid-mapping 20_reverse',
      'poll-secret 20',
      'sender-key 20',
      'session 20_1.0',
      'tctoken 20@lid',
      'text-secret me|new',
      'token-holder 20',
      'user-devices 20',
    ]
    expect(names.sort()).toEqual([...keys.map((type) => `${type} 1`), ...kept].sort())
  })

  it('leaves the work to a process that is already deleting', async () => {
    await insertKeys(4, 10, '25 hours')
    await db.$client.begin(async (other) => {
      await other`SELECT pg_advisory_xact_lock(${advisoryLocks.housekeeping})`
      expect(await deleteExpiredIdempotencyKeys(db, beginning)).toEqual({ deleted: 0, next: undefined })
    })
    expect(await deleteExpiredIdempotencyKeys(db, beginning)).toMatchObject({ deleted: 10 })
  })
})
