import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { makeLogger } from '@wagate/runtime/logger'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { eventually } from '@wagate/test-kit/until'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Housekeeping, startHousekeeping } from '../src/upkeep/housekeeping.ts'

let database: TestDatabase
let db: Database
let housekeeping: Housekeeping | undefined

beforeEach(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 3, applicationName: 'test', statementTimeoutMs: 4000 })
})
afterEach(async () => {
  await housekeeping?.close()
  await closeDatabase(db)
  await database.drop()
})

function start(): void {
  housekeeping = startHousekeeping(db, makeLogger('test', 'silent'), {
    retentionDays: 365,
    eventRetentionDays: 7,
    editSecretDays: 3,
    isDoneHere: true,
  })
}

async function count(table: string): Promise<number> {
  const [row] = await db.$client<{ count: number }[]>`SELECT count(*)::int AS count FROM ${db.$client(table)}`
  return row?.count ?? 0
}

test('a step that fails does not stop the others', async () => {
  const [newest] = await db.$client<{ name: string }[]>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'messages'::regclass
    ORDER BY 1 DESC LIMIT 1`
  await db.$client.unsafe(`DROP TABLE ${newest?.name}`)
  await db.$client`
    INSERT INTO idempotency_keys (account_id, operation, key, payload_hash, created_at)
    VALUES (1, 'send-message', 'old', '', now() - interval '25 hours')`
  await db.$client`
    INSERT INTO media_blobs (message_id, account_id, mime, bytes, created_at)
    VALUES (gen_random_uuid(), 1, 'image/png', '', now() - interval '2 hours')`
  await db.$client`
    INSERT INTO audit_log (operation, target, result, created_at) VALUES ('x', 'y', 'z', now() - interval '400 days')`
  const blocker = await db.$client.reserve()
  await blocker`BEGIN`
  await blocker`SET LOCAL idle_in_transaction_session_timeout = 0`
  await blocker`LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE`
  start()
  expect(housekeeping?.isUpToDate()).toBe(false)
  await vi.waitFor(() => expect(housekeeping?.partitionWeeksAhead()).toBe(8), eventually)
  expect(housekeeping?.isUpToDate(performance.now() + 29 * 60_000)).toBe(true)
  expect(housekeeping?.isUpToDate(performance.now() + 31 * 60_000)).toBe(false)
  await vi.waitFor(async () => expect(await count('media_blobs')).toBe(0), eventually)
  expect(await count('audit_log')).toBe(0)
  await blocker`COMMIT`
  blocker.release()
  expect(await count('idempotency_keys')).toBe(1)
})
