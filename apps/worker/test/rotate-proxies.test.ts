import { randomBytes } from 'node:crypto'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { findProxyKey, isEncryptedBy } from '@wagate/db/queries/credentials/master-keys'
import { proxyContext } from '@wagate/shared/proxy-url'
import { sealBox } from '@wagate/shared/sealed-box'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MasterKeys, readMasterKeys } from '../src/config/master-keys.ts'
import { openProxyBox, proxyBoxKey } from '../src/session/network/proxy-box.ts'
import { checkMasterKeys } from '../src/stored-keys/check-master-keys.ts'
import { rotateMasterKeys } from '../src/stored-keys/rotate-master-keys.ts'

const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const [before, during, after] = [
  readMasterKeys(first),
  readMasterKeys(second, [first]),
  readMasterKeys(second),
]
const unknown = readMasterKeys(third)
const silent = { onProgress: () => undefined }
const url = 'http://shop:secret@proxy.example.com:8080'

let database: TestDatabase
let db: Database
let deviceId = 0

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 10_000 })
  const sql = db.$client
  const [account] = await sql<{ id: number }[]>`
    INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('a', 'x', 'USER', 9) RETURNING id`
  const [device] = await sql<{ id: number }[]>`
    INSERT INTO devices (id, shard, account_id, sender, name)
    VALUES (nextval('devices_id_seq'), 1, ${account?.id ?? 0}, '1', 'x') RETURNING id`
  deviceId = device?.id ?? 0
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

async function storeProxy({ current }: MasterKeys): Promise<void> {
  const recipient = { id: current.id, publicKey: proxyBoxKey(current).publicKey }
  const sealed = sealBox(recipient, Buffer.from(url), proxyContext(deviceId))
  await db.$client`
    INSERT INTO device_proxies (device_id, shown, sealed) VALUES (${deviceId}, 'shown', ${sealed})
    ON CONFLICT (device_id) DO UPDATE SET sealed = excluded.sealed`
}

test('re-encrypts proxies, which the API has encrypted without any key of the workers', async () => {
  await checkMasterKeys(db, before)
  await storeProxy(before)
  await expect(checkMasterKeys(db, after)).rejects.toThrow(before.current.id)
  expect(await rotateMasterKeys(db, during, silent)).toMatchObject({ replaced: 1, isComplete: true })
  const [row] = await db.$client<{ sealed: Buffer }[]>`SELECT sealed FROM device_proxies`
  expect(openProxyBox(after, deviceId, row?.sealed ?? Buffer.alloc(0)).toString()).toBe(url)
  expect(await findProxyKey(db)).toEqual({
    masterKeyId: after.current.id,
    publicKey: proxyBoxKey(after.current).publicKey,
  })
  expect(await isEncryptedBy(db, [before.current.id])).toBe(false)
  await checkMasterKeys(db, after)
})

test('is not complete while a proxy cannot be opened, and says which key is missing', async () => {
  await storeProxy(unknown)
  const { unreadable, isComplete } = await rotateMasterKeys(db, during, silent)
  expect(isComplete).toBe(false)
  expect([...unreadable]).toEqual([
    [`A stored proxy was encrypted for another master key (${unknown.current.id})`, 1],
  ])
})
