import { randomBytes, randomUUID } from 'node:crypto'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { listUsedMasterKeys, recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { listAuthSealedByOthers, replaceAuth } from '@wagate/db/queries/credentials/sealed-values'
import { registerWorker } from '@wagate/db/queries/workers/workers'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { authContext, makeVault, uploadContext } from '../src/session/credentials/vault.ts'
import { proxyBoxKey } from '../src/session/network/proxy-box.ts'
import { openMediaSource, sealMediaSource } from '../src/session/receiving/media-source.ts'
import { checkMasterKeys } from '../src/stored-keys/check-master-keys.ts'
import { rotateMasterKeys } from '../src/stored-keys/rotate-master-keys.ts'

const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const keysOf = (current: Buffer, ...others: Buffer[]) => readMasterKeys(current, others)
const before = keysOf(first)
const during = keysOf(second, first)
const after = keysOf(second)

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

afterEach(async () => {
  await db.$client`DELETE FROM device_auth`
  await db.$client`DELETE FROM messages`
  await db.$client`DELETE FROM workers`
  await db.$client`DELETE FROM master_keys`
})

afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const textOf = (n: number) => Buffer.from(`value ${n}`)
const silent = { onProgress: () => undefined }

async function storeAuth(count: number, keys = before): Promise<void> {
  const vault = makeVault(keys, deviceId)
  const rows = Array.from({ length: count }, (_, n) => ({
    device_id: deviceId,
    type: 'session',
    id: String(n),
    value: vault.seal(textOf(n), authContext('session', String(n))),
  }))
  for (const row of rows) {
    await db.$client`
      INSERT INTO device_auth ${db.$client(row)}
      ON CONFLICT ON CONSTRAINT device_auth_pk DO UPDATE SET value = excluded.value`
  }
}

async function readAuth(keys = after): Promise<string[]> {
  const rows = await db.$client<{ id: string; value: Buffer }[]>`
    SELECT id, value FROM device_auth ORDER BY id::int`
  const vault = makeVault(keys, deviceId)
  return rows.map(({ id, value }) => vault.open(value, authContext('session', id)).toString())
}

async function storeContent(keys = before): Promise<string> {
  const id = randomUUID()
  const content = makeVault(keys, deviceId).seal(Buffer.from('content'), uploadContext(id))
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation,
      uploaded_content)
    SELECT ${id}, account_id, id, 'out', 'image', sender, '2', 'sent', ${id}, 0, ${content} FROM devices`
  return id
}

test('re-encrypts all values over many pages, including the contents of messages', async () => {
  await storeAuth(2100)
  const messageId = await storeContent()
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation)
    SELECT gen_random_uuid(), account_id, id, 'out', 'text', sender, '2', 'sent', 'x', 0
    FROM devices, generate_series(1, 1500)`
  const seen: number[] = []
  const rotation = await rotateMasterKeys(db, during, { onProgress: ({ scanned }) => seen.push(scanned) })
  expect(rotation).toEqual({ replaced: 2101, unreadable: new Map(), others: [], isComplete: true })
  // The last pages are those of the proxies, of the secrets of webhooks and of received media.
  expect(seen).toEqual([1000, 2000, 2100, 3100, 3601, 3601, 3601, 3601])
  expect(await readAuth()).toEqual(Array.from({ length: 2100 }, (_, n) => String(textOf(n))))
  const [message] = await db.$client<{ content: Buffer }[]>`
    SELECT uploaded_content AS content FROM messages WHERE id = ${messageId}`
  const content = makeVault(after, deviceId).open(message?.content ?? Buffer.of(), uploadContext(messageId))
  expect(String(content)).toBe('content')
})

test('re-encrypts where and with which key a received file is downloaded', async () => {
  const messageId = randomUUID()
  const source = { kind: 'image', path: '/file', mediaKey: 'a2V5', waId: 'x', chatJid: 'y' } as const
  const sealed = sealMediaSource(makeVault(before, deviceId), messageId, source)
  await db.$client`
    INSERT INTO received_media (message_id, account_id, device_id, state, size, sha256, sealed, next_attempt_at)
    SELECT ${messageId}, account_id, id, 'pending', 1, 'x', ${sealed}, now() FROM devices`
  expect(await rotateMasterKeys(db, during, silent)).toMatchObject({ replaced: 1, isComplete: true })
  const [row] = await db.$client<{ sealed: Buffer }[]>`DELETE FROM received_media RETURNING sealed`
  const vault = makeVault(after, deviceId)
  expect(openMediaSource(vault, messageId, row?.sealed ?? Buffer.of())).toEqual(source)
})

test('a second rotation changes nothing', async () => {
  await storeAuth(3)
  await rotateMasterKeys(db, during, silent)
  expect(await rotateMasterKeys(db, during, silent)).toMatchObject({ replaced: 0, isComplete: true })
})

test('does not overwrite what the owner wrote after it was read', async () => {
  await storeAuth(2)
  const page = await listAuthSealedByOthers(db, second.toString('hex'))
  const vault = makeVault(during, deviceId)
  const newer = makeVault(during, deviceId).seal(Buffer.from('newer'), authContext('session', '0'))
  await db.$client`UPDATE device_auth SET value = ${newer} WHERE id = '0'`
  const replacements = page.values.map(({ key, value }) => ({
    key,
    value,
    replacement: vault.seal(vault.open(value, authContext(key.type, key.id)), authContext(key.type, key.id)),
  }))
  expect(await replaceAuth(db, replacements)).toBe(1)
  expect(await readAuth()).toEqual(['newer', 'value 1'])
})

test('does not bring back what the owner deleted after it was read', async () => {
  await storeAuth(1)
  const { values } = await listAuthSealedByOthers(db, second.toString('hex'))
  await db.$client`DELETE FROM device_auth`
  expect(
    await replaceAuth(
      db,
      values.map((row) => ({ ...row, replacement: row.value })),
    ),
  ).toBe(0)
  expect(await readAuth()).toEqual([])
})

test('does not wait for a locked row, and returns to it later', async () => {
  await storeAuth(3)
  let commit: () => void = () => undefined
  const writing = new Promise<void>((resolve) => {
    commit = resolve
  })
  const begun = new Promise<void>((resolve) => {
    const owner = db.$client.begin(async (sql) => {
      const newer = makeVault(before, deviceId).seal(Buffer.from('newer'), authContext('session', '1'))
      await sql`UPDATE device_auth SET value = ${newer} WHERE id = '1'`
      resolve()
      await writing
    })
    owner.catch(() => undefined)
  })
  await begun
  let passes = 0
  const rotation = await rotateMasterKeys(db, during, {
    // Two pages a pass: the owner commits while the first pass is still at it.
    onProgress() {
      passes += 1
      if (passes === 2) commit()
    },
  })
  expect(rotation.isComplete).toBe(true)
  expect(await readAuth()).toEqual(['value 0', 'newer', 'value 2'])
})

test('concurrent writes and a rotation lose nothing', async () => {
  await storeAuth(200)
  let isRotated = false
  async function own(): Promise<number[]> {
    const versions = Array.from({ length: 200 }, () => 0)
    const vault = makeVault(during, deviceId)
    for (let n = 0; !isRotated || n % 200 !== 0; n++) {
      const id = n % 200
      versions[id] = n
      const value = vault.seal(textOf(n), authContext('session', String(id)))
      await db.$client`UPDATE device_auth SET value = ${value} WHERE id = ${String(id)}`
    }
    return versions
  }
  const owned = own()
  for (let round = 0; round < 5; round++) {
    // Back and forth, so that there is always something to do.
    await rotateMasterKeys(db, round % 2 === 0 ? during : keysOf(first, second), silent)
  }
  isRotated = true
  const versions = await owned
  expect(await readAuth(during)).toEqual(versions.map((n) => String(textOf(n))))
})

test('is not complete while a value cannot be opened, and says which key is missing', async () => {
  await storeAuth(2)
  await storeContent(keysOf(third))
  const rotation = await rotateMasterKeys(db, during, silent)
  expect(rotation).toMatchObject({ replaced: 2, isComplete: false })
  expect([...rotation.unreadable]).toEqual([
    [`A stored credential was encrypted with another master key (${keysOf(third).current.id})`, 1],
  ])
})

test('is not complete while a worker still encrypts with another key', async () => {
  await recordMasterKey(db, before.current.id, proxyBoxKey(before.current).publicKey)
  const worker = { name: 'w1', capacity: 1, leaseTtlMs: 60_000 }
  await registerWorker(db, { ...worker, id: randomUUID(), masterKeyId: before.current.id })
  expect(await rotateMasterKeys(db, during, silent)).toMatchObject({
    others: [{ name: 'w1', masterKeyId: before.current.id }],
    isComplete: false,
  })
  await registerWorker(db, { ...worker, id: randomUUID(), masterKeyId: during.current.id })
  expect(await rotateMasterKeys(db, during, silent)).toMatchObject({ others: [], isComplete: true })
})

test('ends between two pages when it is aborted', async () => {
  await storeAuth(3)
  const stopping = new AbortController()
  const rotation = rotateMasterKeys(db, during, {
    signal: stopping.signal,
    onProgress: () => stopping.abort(),
  })
  await expect(rotation).rejects.toThrow()
  // The page that was begun is done.
  expect(await readAuth()).toHaveLength(3)
})

test('a start is refused while values need a key that it does not have, and the refusal names the key', async () => {
  await checkMasterKeys(db, before)
  await storeAuth(1)
  const { id } = before.current
  await expect(checkMasterKeys(db, after)).rejects.toThrow(`encrypted with the master key ${id}`)
  // No worker has used the new key yet.
  await rotateMasterKeys(db, during, silent)
  expect(await listUsedMasterKeys(db)).toEqual([after.current.id])
  await checkMasterKeys(db, after)
  await expect(checkMasterKeys(db, before)).rejects.toThrow(after.current.id)
})

test('a start with another key is accepted while nothing is encrypted', async () => {
  await checkMasterKeys(db, before)
  await checkMasterKeys(db, after)
  expect(await listUsedMasterKeys(db)).toEqual([after.current.id])
})
