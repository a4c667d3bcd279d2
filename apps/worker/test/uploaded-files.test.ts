import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { recordUpload, setUploadStored } from '@wagate/db/queries/media/uploaded-media'
import { openMediaStore } from '@wagate/media-store/open-media-store'
import { makeHostNames } from '@wagate/runtime/host-names'
import { urlOfUpload } from '@wagate/shared/uploaded-media'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config/config.ts'
import { type MediaSource, makeMediaFile } from '../src/media/media-file.ts'
import { makeMediaShares } from '../src/media/media-shares.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-uploaded-'))
const files = join(folder, 'files')
const store = openMediaStore({ kind: 'folder', folder: join(folder, 'store') })
const bytes = randomBytes(300_000)
const sha256 = createHash('sha256').update(bytes).digest('hex')
const accountId = 1

let database: TestDatabase
let db: Database
let config: MediaSource['config']
beforeAll(async () => {
  mkdirSync(files)
  vi.stubEnv('TMPDIR', files)
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 5000 })
  await db.$client`
    INSERT INTO accounts (id, email, password_hash, role, devices_allowed) OVERRIDING SYSTEM VALUE
    VALUES (1, 'a@example.com', '', 'USER', 1)`
  config = readConfig({
    DATABASE_URL: database.url,
    REDIS_URL: 'redis://localhost',
    MASTER_KEY: randomBytes(32).toString('base64'),
  })
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

async function addUpload({ isInStore = true } = {}): Promise<string> {
  const id = { accountId, mediaId: randomUUID() }
  const limits = { keepHours: 24, bytesMax: 1e9, filesMax: 100 }
  const upload = { ...id, mime: 'text/csv', filename: null, size: bytes.length, sha256 }
  expect(await recordUpload(db, upload, limits)).toHaveProperty('expiresAt')
  const path = join(folder, 'file')
  writeFileSync(path, bytes)
  if (isInStore) await store.put({ accountId, sha256, uploadId: id.mediaId }, { path, size: bytes.length })
  await setUploadStored(db, id)
  return id.mediaId
}

function load(mediaId: string, { ofAccount = accountId, read = store.read } = {}) {
  const source: MediaSource = {
    config,
    db,
    media: {
      shares: makeMediaShares(config.media.memoryBytes),
      hostNames: makeHostNames(),
      store: { read },
    },
    device: { id: 1, accountId: ofAccount },
  }
  const url = urlOfUpload(mediaId)
  return makeMediaFile(source, { id: randomUUID(), body: null, filename: null, type: 'document', url })
}

test('an uploaded file is read from the store, also after it has expired', async () => {
  const mediaId = await addUpload()
  await db.$client`UPDATE uploaded_media SET expires_at = now() WHERE media_id = ${mediaId}`
  const file = await load(mediaId)
  expect(readFileSync(file.path).equals(bytes)).toBe(true)
  expect(file.said.claims).toEqual(['text/csv'])
  await file.remove()
  expect(readdirSync(files)).toEqual([])
})

test('one of another account, or that does not exist any more, can never be sent', async () => {
  const never = { name: 'MediaError', code: 'upload_not_found' }
  await expect(load(await addUpload(), { ofAccount: 2 })).rejects.toMatchObject(never)
  await expect(load(randomUUID())).rejects.toMatchObject(never)
  await expect(load(await addUpload({ isInStore: false }))).rejects.toMatchObject(never)
  expect(readdirSync(files)).toEqual([])
})

test('a store that fails, or has only a part of the file, is asked again later', async () => {
  const later = { name: 'MediaUnavailable', code: 'upload_unavailable' }
  const mediaId = await addUpload()
  const fail = () => Promise.reject(new Error('out of order'))
  await expect(load(mediaId, { read: fail })).rejects.toMatchObject(later)
  const readPart: typeof store.read = (content) => store.read(content, { first: 0, last: 99 })
  await expect(load(mediaId, { read: readPart })).rejects.toMatchObject(later)
  expect(readdirSync(files)).toEqual([])
})
