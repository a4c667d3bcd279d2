import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { advisoryLocks } from '../src/locks.ts'
import { insertFirstAdmin } from '../src/queries/accounts/accounts.ts'
import { beginning, deleteExpiredIdempotencyKeys } from '../src/queries/retention/housekeeping.ts'

let server: Awaited<ReturnType<typeof createTestDatabase>>
let db: Database

beforeAll(async () => {
  server = await createTestDatabase()
  db = openDatabase(server.url, { poolSize: 3, applicationName: 'test', statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await closeDatabase(db)
  await server.drop()
})

test('no number is used for two locks', () => {
  expect(new Set(Object.values(advisoryLocks)).size).toBe(Object.keys(advisoryLocks).length)
})

test('the first ADMIN is created while housekeeping is deleting', async () => {
  const gate = await holdDeletions()
  await insertExpiredKey()
  let isDeleting = true
  const deletion = deleteExpiredIdempotencyKeys(db, beginning).finally(() => {
    isDeleting = false
  })
  await vi.waitFor(async () => {
    const waiting = await db.$client`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`
    expect(waiting).toHaveLength(1)
  }, eventually)

  const key = { name: 'k', hash: Buffer.from('hash'), lastFour: 'hash' }
  const account = { email: 'a@example.com', passwordHash: '', devicesAllowed: 1, expiresAt: null, key }
  expect(await insertFirstAdmin(db, account)).toBeDefined()
  expect(isDeleting).toBe(true)
  await gate.open()
  expect(await deletion).toMatchObject({ deleted: 1 })
  await db.$client`DROP TRIGGER wait_first ON idempotency_keys`
})

test('housekeeping deletes while the first ADMIN is being created', async () => {
  await insertExpiredKey()
  await db.$client.begin(async (bootstrap) => {
    await bootstrap`SELECT pg_advisory_xact_lock(${advisoryLocks.firstAdmin})`
    expect(await deleteExpiredIdempotencyKeys(db, beginning)).toMatchObject({ deleted: 1 })
  })
})

/** Every deletion waits until the gate is opened. */
async function holdDeletions(): Promise<{ open(): Promise<void> }> {
  const key = 1_000_000
  await db.$client.unsafe(`
    CREATE FUNCTION wait_first() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock(${key}); RETURN old; END';
    CREATE TRIGGER wait_first BEFORE DELETE ON idempotency_keys
      FOR EACH ROW EXECUTE FUNCTION wait_first()`)
  const holder = await db.$client.reserve()
  await holder`SELECT pg_advisory_lock(${key})`
  return {
    async open() {
      await holder`SELECT pg_advisory_unlock(${key})`
      holder.release()
    },
  }
}

async function insertExpiredKey(): Promise<void> {
  await db.$client`
    INSERT INTO idempotency_keys (account_id, operation, key, payload_hash, created_at)
    VALUES (1, 'send-message', 'key', '', now() - interval '25 hours')`
}
