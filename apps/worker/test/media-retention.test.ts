import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { findMedia } from '@wagate/db/queries/media/media-content'
import { findUpload, recordUpload, setUploadStored } from '@wagate/db/queries/media/uploaded-media'
import { openMediaStore } from '@wagate/media-store/open-media-store'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expireMedia } from '../src/received-media/media-retention.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-retention-'))
const store = openMediaStore({ kind: 'folder', folder: join(folder, 'media') })
const retention = { mediaDays: 30, messageDays: 365, waitingMs: 72 * 3_600_000 }
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 2, applicationName: 'test', statementTimeoutMs: 5000 })
  await db.$client`
    INSERT INTO accounts (id, email, password_hash, role, devices_allowed) OVERRIDING SYSTEM VALUE
    VALUES (1, 'a@example.com', '', 'USER', 1)`
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
  rmSync(folder, { recursive: true })
})

/** A message that was received so many days ago, with this file. */
async function addStored(bytes: Buffer, days: number): Promise<string> {
  const path = join(folder, 'file')
  const messageId = randomUUID()
  const sha256 = createHash('sha256').update(bytes).digest()
  writeFileSync(path, bytes)
  await store.put({ accountId: 1, sha256: sha256.toString('hex') }, { path, size: bytes.length })
  await db.$client`
    INSERT INTO received_media (message_id, account_id, device_id, created_at, state, mime, size, sha256)
    VALUES (${messageId}, 1, 1, now() - ${days}::int * interval '1 day', 'stored', 'image/png', ${bytes.length}, ${sha256})`
  return messageId
}

it('removes files past retention, but none that a younger message shares', async () => {
  const [lone, shared] = [randomBytes(100), randomBytes(100)]
  const ids = [await addStored(lone, 31), await addStored(shared, 31), await addStored(shared, 29)]
  expect(await expireMedia(db, store, retention)).toBe(2)
  const states = await Promise.all(ids.map(async (id) => (await findMedia(db, 1, id))?.state))
  expect(states).toEqual(['unavailable', 'unavailable', 'stored'])
  const isThere = (bytes: Buffer) =>
    store.has({ accountId: 1, sha256: createHash('sha256').update(bytes).digest('hex') })
  expect([await isThere(lone), await isThere(shared)]).toEqual([false, true])
  expect(await expireMedia(db, store, retention)).toBe(0)
})

it('no content is stored while a slow store removes it', async () => {
  const bytes = randomBytes(100)
  await addStored(bytes, 31)
  const isLocked = async () => {
    const [lock] = await db.$client`
      SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE locktype = 'advisory' AND datname = current_database()`
    return lock !== undefined
  }
  const locked: boolean[] = []
  const slow = {
    ...store,
    async remove(content: Parameters<typeof store.remove>[0]) {
      // Longer than other transactions may be idle.
      await delay(2500)
      locked.push(await isLocked())
      await store.remove(content)
    },
  }
  expect(await expireMedia(db, slow, retention)).toBe(1)
  expect(locked).toEqual([true])
}, 20_000)

it('removes uploaded files once no message can be waiting for them, and what was never stored completely', async () => {
  const sql = db.$client
  async function addUpload({ expiredHours = 0, isStored = true, ageMinutes = 0 }) {
    const bytes = randomBytes(100)
    const path = join(folder, 'file')
    writeFileSync(path, bytes)
    const id = { accountId: 1, mediaId: randomUUID() }
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const limits = { keepHours: 24, bytesMax: 1e9, filesMax: 100 }
    await recordUpload(db, { ...id, mime: 'image/png', filename: null, size: 100, sha256 }, limits)
    await store.put({ accountId: 1, sha256, uploadId: id.mediaId }, { path, size: 100 })
    if (isStored) await setUploadStored(db, id)
    await sql`
      UPDATE uploaded_media SET created_at = now() - ${ageMinutes}::int * interval '1 minute',
        expires_at = expires_at - (CASE WHEN ${expiredHours > 0} THEN 24 + ${expiredHours}::int ELSE 0 END) * interval '1 hour'
      WHERE media_id = ${id.mediaId}`
    return { id, isThere: () => store.has({ accountId: 1, sha256, uploadId: id.mediaId }) }
  }
  const fresh = await addUpload({})
  const waitedFor = await addUpload({ expiredHours: 72 })
  const expired = await addUpload({ expiredHours: 74 })
  const unfinished = await addUpload({ isStored: false, ageMinutes: 61 })
  const inProgress = await addUpload({ isStored: false, ageMinutes: 59 })
  expect(await expireMedia(db, store, retention)).toBe(2)
  const all = [fresh, waitedFor, expired, unfinished, inProgress]
  expect(await Promise.all(all.map(({ isThere }) => isThere()))).toEqual([true, true, false, false, true])
  expect(await findUpload(db, waitedFor.id, 'accepted')).toBeDefined()
  expect(await findUpload(db, waitedFor.id, { sendAt: null })).toBeUndefined()
  expect(await sql`SELECT FROM uploaded_media`).toHaveLength(3)
})
