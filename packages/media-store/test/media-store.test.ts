import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import S3rver from 's3rver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MediaContent, MediaStore } from '../src/media-store.ts'
import { openMediaStore } from '../src/open-media-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-media-store-'))
const stored = join(folder, 'stored')
const s3 = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory: join(folder, 's3'),
  configureBuckets: [{ name: 'media', configs: [] }],
})
let endpoint = ''

beforeAll(async () => {
  const { address, port } = await s3.run()
  endpoint = `http://${address}:${port}`
})
afterAll(async () => {
  await s3.close()
  rmSync(folder, { recursive: true })
})

const s3Options = () => ({
  kind: 's3' as const,
  endpoint,
  region: 'us-east-1',
  bucket: 'media',
  accessKeyId: 'S3RVER',
  secretAccessKey: 'S3RVER',
  forcesPathStyle: true,
})

/** A local file, and what it is called in the store. */
function makeFile(bytes: Buffer, accountId = 1) {
  const path = join(folder, randomBytes(8).toString('hex'))
  writeFileSync(path, bytes)
  const content = { accountId, sha256: createHash('sha256').update(bytes).digest('hex') }
  return { content, file: { path, size: bytes.length } }
}

async function readAll(store: MediaStore, content: MediaContent, range?: { first: number; last: number }) {
  const stream = await store.read(content, range)
  return stream && buffer(stream)
}

describe.each([
  ['a folder', () => openMediaStore({ kind: 'folder', folder: stored })],
  ['S3', () => openMediaStore(s3Options())],
] as const)('a store in %s', (_, open) => {
  it('returns the bytes that were put, whole and by range', async () => {
    const store = open()
    const bytes = randomBytes(300_000)
    const { content, file } = makeFile(bytes)
    expect(await store.has(content)).toBe(false)
    await store.put(content, file)
    expect(await store.has(content)).toBe(true)
    // Comparing byte by byte, as `toEqual` does, takes seconds.
    expect((await readAll(store, content))?.equals(bytes)).toBe(true)
    expect(await readAll(store, content, { first: 1000, last: 1999 })).toEqual(bytes.subarray(1000, 2000))
    expect(await readAll(store, content, { first: 299_999, last: 299_999 })).toEqual(bytes.subarray(-1))
  })

  it('keeps one file of the same bytes, however often it is put', async () => {
    const store = open()
    const { content, file } = makeFile(randomBytes(100))
    await Promise.all([store.put(content, file), store.put(content, file), store.put(content, file)])
    await store.remove(content)
    expect(await store.has(content)).toBe(false)
  })

  it('keeps the files of accounts apart', async () => {
    const store = open()
    const { content, file } = makeFile(randomBytes(100), 7)
    await store.put(content, file)
    expect(await store.read({ ...content, accountId: 8 })).toBeUndefined()
    await store.remove({ ...content, accountId: 8 })
    expect(await store.has(content)).toBe(true)
  })

  it('has nothing to read, and nothing to remove, where no file is', async () => {
    const store = open()
    const { content } = makeFile(randomBytes(100))
    expect(await store.read(content)).toBeUndefined()
    await store.remove(content)
    await store.removeLeftovers()
  })

  it.each([
    ['../../etc/passwd', 1],
    ['A'.repeat(64), 1],
    ['a'.repeat(64), 0],
    ['a'.repeat(64), Number.NaN],
  ])('refuses the name %s of account %s', async (sha256, accountId) => {
    await expect(open().read({ accountId, sha256 })).rejects.toThrow(TypeError)
  })
})

it('stages files for S3 in a folder that only this user can enter, without those of a killed process', async () => {
  const { pid: ended } = spawnSync('true')
  const leftover = join(tmpdir(), `wagate-uploads-${ended}-abc`)
  mkdirSync(leftover)
  const staging = await openMediaStore(s3Options()).stagingFolder()
  expect(statSync(staging).mode & 0o777).toBe(0o700)
  expect(existsSync(leftover)).toBe(false)
  expect(await openMediaStore(s3Options()).stagingFolder()).toBe(staging)
  rmSync(staging, { recursive: true })
  expect(existsSync(await openMediaStore(s3Options()).stagingFolder())).toBe(true)
})

it.each([
  ['the whole object', 200, {}],
  ['another range', 206, { 'content-range': 'bytes 0-9/100' }],
  ['a range without saying which', 206, {}],
  ['an error', 503, {}],
])('reads nothing from an S3 service that answers a range with %s', async (_, status, headers) => {
  const service = createServer((_request, response) =>
    response.writeHead(status, headers).end('x'.repeat(10)),
  )
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  try {
    const { port } = service.address() as AddressInfo
    const store = openMediaStore({ ...s3Options(), endpoint: `http://127.0.0.1:${port}` })
    const { content } = makeFile(Buffer.from('x'))
    await expect(store.read(content, { first: 10, last: 19 })).rejects.toThrow(`status ${status}`)
  } finally {
    service.closeAllConnections()
    service.close()
  }
})

it('lets only its own user see the files of a folder', async () => {
  const { content, file } = makeFile(randomBytes(100), 9)
  await openMediaStore({ kind: 'folder', folder: stored }).put(content, file)
  const { sha256 } = content
  expect(statSync(join(stored, '9')).mode & 0o777).toBe(0o700)
  const path = join(stored, '9', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('leaves no part of a file that could not be copied, and removes those of killed processes', async () => {
  const store = openMediaStore({ kind: 'folder', folder: stored })
  const { content } = makeFile(randomBytes(100))
  await expect(store.put(content, { path: join(folder, 'missing'), size: 1 })).rejects.toThrow('ENOENT')
  const unfinished = join(stored, 'unfinished')
  expect(readdirSync(unfinished)).toEqual([])
  for (const name of ['old', 'new']) writeFileSync(join(unfinished, name), 'part')
  const dayBeforeYesterday = new Date(Date.now() - 48 * 3_600_000)
  utimesSync(join(unfinished, 'old'), dayBeforeYesterday, dayBeforeYesterday)
  await store.removeLeftovers()
  expect(readdirSync(unfinished)).toEqual(['new'])
})

it('reports a refusal of S3 without its answer', async () => {
  const store = openMediaStore({ ...s3Options(), accessKeyId: 'unknown' })
  const { content, file } = makeFile(randomBytes(100))
  await expect(store.put(content, file)).rejects.toThrow(
    'The S3 service answered a PUT request with status 403',
  )
})
