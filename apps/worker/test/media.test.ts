import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { makeHostNames } from '@wagate/runtime/host-names'
import type { MediaType } from '@wagate/shared/message-kinds'
import { makeHostileFile } from '@wagate/test-kit/media/hostile-media'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { generateWAMessageContent } from 'baileys'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config/config.ts'
import { type InspectedSource, loadMedia } from '../src/media/load-media.ts'
import type { MediaMessage } from '../src/media/media-file.ts'
import { makeMediaShares } from '../src/media/media-shares.ts'
import { makeTestInspector } from './inspection.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

/** The process that inspects takes seconds to start from source beside other tests. */
const options = { timeout: 60_000 }
const config = readConfig({
  DATABASE_URL: 'postgres://localhost/wagate',
  REDIS_URL: 'redis://localhost',
  MASTER_KEY: randomBytes(32).toString('base64'),
  ALLOW_PRIVATE_MEDIA_HOSTS: 'true',
})
const inspector = makeTestInspector()
const files: Record<string, Buffer> = {}
let folder: string
let database: TestDatabase
let host: MediaHost
let source: InspectedSource

const sampleOf = (type: MediaType) => mediaSamples.find((media) => media.type === type)?.bytes
const solid = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'red' } })
    .png()
    .toBuffer()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wagate-test-'))
  vi.stubEnv('TMPDIR', folder)
  database = await createTestDatabase()
  files['/picture.png'] = await solid(640, 480)
  files['/photo.png'] = await solid(5000, 5000)
  files['/bomb.png'] = await solid(6000, 6000)
  files['/disguised.jpg'] = makeHostileFile('JPEG disguised as a tiny WebP').bytes
  files['/video.mp4'] = sampleOf('video') ?? Buffer.alloc(0)
  files['/audio.mp3'] = sampleOf('audio') ?? Buffer.alloc(0)
  files['/table.csv'] = Buffer.from('a,b\n1,2\n')
  const pdf = sampleOf('document')
  const answer = (path: string) => (_: unknown, response: { end(body?: Buffer): void }) =>
    response.end(files[path] ?? pdf)
  host = await openMediaHost(new Proxy({}, { get: (_, path) => answer(String(path)) }))
  source = {
    config,
    db: openDatabase(database.url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 1000 }),
    media: {
      shares: makeMediaShares(config.media.memoryBytes),
      hostNames: makeHostNames(),
      store: { read: async () => undefined },
      inspector,
    },
    device: { id: 1, accountId: 1 },
  }
}, 60_000)

afterAll(async () => {
  host.close()
  await Promise.all([inspector.close(), closeDatabase(source.db)])
  await database.drop()
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

async function load(message: Partial<MediaMessage> & { type: MediaType; url: string }) {
  const id = '01a1fba9-258d-78fe-a2f7-2087837c26d1'
  const { content, release } = await loadMedia(source, { id, body: null, filename: null, ...message })
  const [media] = ['image', 'video', 'audio', 'document'].flatMap((key) => Reflect.get(content, key) ?? [])
  const bytes = await buffer(media.stream)
  await release()
  expect(readdirSync(folder)).toEqual([])
  return { ...content, bytes }
}

const loadUrl = (type: MediaType, path: string) => load({ type, url: host.origin + path })

describe('media', () => {
  test.each(['/picture.png', '/photo.png'])('that are pictures get a preview (%s)', options, async (path) => {
    const { bytes, ...content } = await loadUrl('image', path)
    expect(content).toMatchObject({ mimetype: 'image/png', jpegThumbnail: expect.stringMatching(/^\/9j\//) })
    expect(bytes).toEqual(files[path])
  })

  test.each([
    ['/bomb.png', 'image/png', 6000],
    ['/disguised.jpg', 'image/jpeg', 16_000],
  ])(
    'that would take much memory once they are opened have none (%s)',
    options,
    async (path, mimetype, width) => {
      expect(await loadUrl('image', path)).toMatchObject({
        mimetype,
        jpegThumbnail: '',
        width,
        height: width,
      })
    },
  )

  test('that are videos get an empty preview, so that Baileys does not open them', options, async () => {
    expect(await loadUrl('video', '/video.mp4')).toMatchObject({ jpegThumbnail: '' })
  })

  test('that are audio carry their duration, so that Baileys does not open them', options, async () => {
    expect(await loadUrl('audio', '/audio.mp3')).toMatchObject({ seconds: 0 })
  })

  test.each([
    ['image', '/picture.png'],
    ['video', '/video.mp4'],
    ['audio', '/audio.mp3'],
    ['document', '/a.pdf'],
  ] as const)('are not opened by Baileys, which only encrypts them (%s)', options, async (type, path) => {
    const message = { id: randomUUID(), type, url: host.origin + path, body: null, filename: null }
    const { content, release } = await loadMedia(source, message)
    let files: string[] = []
    await generateWAMessageContent(content, {
      async upload() {
        files = readdirSync(folder)
        return { mediaUrl: 'https://media.test/', directPath: '/' }
      },
    })
    await release()
    expect(files.filter((name) => !name.startsWith('media-'))).toEqual([expect.stringMatching(/-enc$/)])
  })

  test('of another type than the message leave nothing behind', options, async () => {
    await expect(loadUrl('audio', '/picture.png')).rejects.toMatchObject({ code: 'media_type_mismatch' })
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('documents', () => {
  test.each([
    ['/a%20b.pdf', 'a b.pdf'],
    ['/files/%C3%BC.pdf?x=1#y', 'ü.pdf'],
    ['/..%2F..%2Fetc%2Fpasswd', 'passwd.pdf'],
    ['/a%5Cb.pdf', 'a_b.pdf'],
    ['/100%.pdf', '100%.pdf'],
    ['/%ff.pdf', '%ff.pdf'],
    ['/', 'file.pdf'],
    ['/a%2F', 'a.pdf'],
  ])('are named after their URL (%s: %s)', options, async (path, fileName) => {
    expect(await loadUrl('document', path)).toMatchObject({ fileName, mimetype: 'application/pdf' })
  })

  test('have the type of their name when their bytes are not recognised', options, async () => {
    expect(await loadUrl('document', '/table.csv')).toMatchObject({ mimetype: 'text/csv' })
  })

  async function store(mime: string, bytes: Buffer): Promise<MediaMessage & { url: string }> {
    const [row] = await source.db.$client<{ id: string }[]>`
      INSERT INTO media_blobs (message_id, account_id, mime, bytes)
      VALUES (gen_random_uuid(), 1, ${mime}, ${bytes}) RETURNING message_id AS id`
    return { id: row?.id ?? '', type: 'document', url: `data:${mime}`, body: null, filename: null }
  }

  test.each([
    ['text/csv', Buffer.from('a,b\n'), null, 'text/csv', 'file.csv'],
    ['text/plain', Buffer.from('a'), 'notes', 'text/plain', 'notes.txt'],
    ['text/plain', Buffer.from('%PDF-1.4\n'), null, 'application/pdf', 'file.pdf'],
    ['application/octet-stream', Buffer.from('a,b\n'), 'table.csv', 'text/csv', 'table.csv'],
    ['application/octet-stream', Buffer.from('a'), null, 'text/plain', 'file.txt'],
    ['application/octet-stream', Buffer.from([0]), null, 'application/octet-stream', 'file'],
  ])(
    'of a data: URL have the type it claims where bytes say nothing (%s)',
    options,
    async (mime, bytes, filename, mimetype, fileName) => {
      const loaded = await load({ ...(await store(mime, bytes)), filename })
      expect(loaded).toMatchObject({ mimetype, fileName, bytes })
    },
  )

  test('of a data: URL are read in parts', options, async () => {
    const bytes = Buffer.alloc(1_300_000, 'abcdefg')
    expect((await load(await store('text/plain', bytes))).bytes.equals(bytes)).toBe(true)
  })
})
