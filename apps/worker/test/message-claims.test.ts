import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { makeLogger } from '@wagate/runtime/logger'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeMessageClaims } from '../src/outbox/message-claims.ts'

const options = { poolSize: 1, applicationName: 'test', statementTimeoutMs: 5000 }
const logger = makeLogger('test', 'silent')
const unknown = {
  id: '00000000-0000-4000-8000-000000000000',
  createdAt: '2026-01-01T00:00:00Z',
  fence: { shard: 0, epoch: 1, workerId: '00000000-0000-4000-8000-000000000000' },
  recipientJid: 'jid',
  setback: null,
  interruptions: 0,
}

let database: TestDatabase
let working: Database
let ended: Database
beforeAll(async () => {
  database = await createTestDatabase()
  working = openDatabase(database.url, options)
  ended = openDatabase(database.url, options)
  await closeDatabase(ended)
})
afterAll(async () => {
  await closeDatabase(working)
  await database.drop()
})

const authWrites = { claimWithNext: async () => undefined }

test('a claim that counts a new contact waits for the disk, and others do not', async () => {
  const durable = makeMessageClaims({ db: working, claimsDb: ended, authWrites }, logger)
  expect(await durable.claimFirst(unknown)).toBeUndefined()
  await expect(durable.claim(unknown)).rejects.toThrow('CONNECTION_ENDED')
  const lazy = makeMessageClaims({ db: ended, claimsDb: working, authWrites }, logger)
  expect(await lazy.claim(unknown)).toBeUndefined()
  await expect(lazy.claimFirst(unknown)).rejects.toThrow('CONNECTION_ENDED')
})
