import { randomBytes } from 'node:crypto'
import { isEncryptedBy } from '@wagate/db/queries/credentials/master-keys'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { openWebhookSecret } from '../src/session/network/proxy-box.ts'
import { rotateMasterKeys } from '../src/stored-keys/rotate-master-keys.ts'
import { masterKeys, openWebhookDatabase, type WebhookDatabase } from './webhook-database.ts'

let database: WebhookDatabase
beforeAll(async () => {
  database = await openWebhookDatabase()
})
afterAll(() => database.drop())

test('re-encrypts the secrets of webhooks, each for its webhook', async () => {
  const next = randomBytes(32)
  const before = masterKeys.current
  const during = readMasterKeys(next, [before.bytes])
  const accountId = await database.addAccount()
  const added = [
    await database.addWebhook(accountId, { url: 'https://example.com/1' }),
    await database.addWebhook(accountId, { url: 'https://example.com/2' }),
  ]
  const rotation = await rotateMasterKeys(database.db, during, { onProgress: () => undefined })
  expect(rotation).toMatchObject({ replaced: 2, isComplete: true })
  expect(await isEncryptedBy(database.db, [before.id])).toBe(false)
  for (const { id, secret } of added) {
    const [row] = await database.sql<{ sealed: Buffer }[]>`
      SELECT sealed FROM webhook_secrets WHERE webhook_id = ${id}`
    const sealed = row?.sealed ?? Buffer.alloc(0)
    expect(openWebhookSecret(readMasterKeys(next), id, sealed).toString()).toBe(secret)
    expect(() => openWebhookSecret(readMasterKeys(next), id + 1, sealed)).toThrow()
  }
})
