import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { buildMessageIndexes } from '../src/queries/messages/message-indexes.ts'

let database: TestDatabase
let db: Database

beforeEach(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 3, applicationName: 'test', statementTimeoutMs: 2000 })
  // A migration leaves an installation with partitions in this state.
  await db.$client`DROP INDEX messages_number`
  await db.$client`CREATE INDEX messages_number ON ONLY messages (account_id, number, created_at DESC, id DESC)`
})
afterEach(async () => {
  await closeDatabase(db)
  await database.drop()
})

async function insertMessage(): Promise<void> {
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation)
    VALUES (gen_random_uuid(), 1, 1, 'out', 'text', '1', '2', 'read', 'X', 1)`
}

async function expectComplete(): Promise<void> {
  const [index] = await db.$client`
    SELECT indisvalid AS "isValid",
      (SELECT count(*) FROM pg_inherits WHERE inhparent = 'messages'::regclass)
        = (SELECT count(*) FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid
           WHERE inhparent = 'messages_number'::regclass AND indisvalid) AS "isEverywhere"
    FROM pg_index WHERE indexrelid = 'messages_number'::regclass`
  expect(index).toEqual({ isValid: true, isEverywhere: true })
}

const listIndexes = () =>
  db.$client`SELECT indexrelid FROM pg_index WHERE indrelid = 'messages'::regclass ORDER BY indexrelid`

test('an index that a migration declared is built on every partition, also on those that are created meanwhile', async () => {
  await insertMessage()
  const before = await listIndexes()
  await buildMessageIndexes(db.$client)
  await expectComplete()
  await buildMessageIndexes(db.$client)
  expect(await listIndexes()).toEqual(before)
})

test('messages are accepted while an index is built, and one that was interrupted is built again', async () => {
  await insertMessage()
  const writer = await db.$client.reserve()
  await writer`BEGIN`
  await writer`SET LOCAL idle_in_transaction_session_timeout = 0`
  await writer`UPDATE messages SET status = 'read'`
  const building = buildMessageIndexes(db.$client).catch((error: unknown) => error)
  const deadline = performance.now() + 1500
  let accepted = 0
  while (performance.now() < deadline) {
    await insertMessage()
    accepted += 1
  }
  expect(accepted).toBeGreaterThan(10)
  // The build waits for the writing transaction, for longer than the statement timeout here.
  expect(await building).toMatchObject({ code: '57014' })
  await writer`COMMIT`
  writer.release()
  await buildMessageIndexes(db.$client)
  await expectComplete()
})
