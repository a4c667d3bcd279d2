import { closeDatabase, openDatabase } from '@wagate/db/client'
import { makeSemaphore } from '@wagate/shared/semaphore'
import type { MediaType } from '@wagate/shared/statuses'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { loadMedia } from '../src/outbox/media.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

const config = readConfig({
  DATABASE_URL: 'postgres://localhost/wagate',
  REDIS_URL: 'redis://localhost',
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
  ALLOW_PRIVATE_MEDIA_HOSTS: 'true',
})
/** Connects when it is asked something, which media from a URL do not. */
const db = openDatabase(config.DATABASE_URL, {
  poolSize: 1,
  applicationName: 'test',
  statementTimeoutMs: 1000,
})

function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  bytes.write('IDAT', 37, 'latin1')
  return bytes
}

const files: Record<string, Buffer> = {
  '/small.png': png(640, 480),
  '/photo.png': png(5000, 5000),
  '/bomb.png': png(16_000, 16_000),
  '/video.mp4': Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1'),
}

let host: MediaHost
beforeAll(async () => {
  const answer = Buffer.from('%PDF-1.4\n')
  host = await openMediaHost(
    new Proxy(
      {},
      {
        get: (_, path) => (_request: unknown, response: { end(body: Buffer): void }) =>
          response.end(files[String(path)] ?? answer),
      },
    ),
  )
})
afterAll(async () => {
  host.close()
  await closeDatabase(db)
})

const mediaBytes = makeSemaphore(1e9)

async function load(type: MediaType, path: string) {
  const message = {
    id: '01a1fba9-258d-78fe-a2f7-2087837c26d1',
    createdAt: '',
    waId: '',
    number: '1',
    recipientJid: null,
    body: null,
    filename: null,
    uploadedContent: null,
  }
  const { content, release } = await loadMedia(
    { config, db, mediaBytes },
    { ...message, type, url: host.origin + path },
  )
  release()
  return content
}

describe('media', () => {
  it.each(['/small.png', '/photo.png'])('that are pictures get a preview (%s)', async (path) => {
    expect(await load('image', path)).not.toHaveProperty('jpegThumbnail')
  })

  it('that would take a gigabyte once they are opened are not opened', async () => {
    expect(await load('image', '/bomb.png')).toMatchObject({
      jpegThumbnail: '',
      width: 16_000,
      height: 16_000,
    })
  })

  it('that are videos are not opened', async () => {
    expect(await load('video', '/video.mp4')).toMatchObject({ jpegThumbnail: '' })
  })

  it.each([
    ['/a%20b.pdf', 'a b.pdf'],
    ['/files/%C3%BC.pdf?x=1#y', 'ü.pdf'],
    ['/..%2F..%2Fetc%2Fpasswd', 'passwd'],
    ['/a%5Cb.pdf', 'b.pdf'],
    ['/100%.pdf', '100%.pdf'],
    ['/%ff.pdf', '%ff.pdf'],
    ['/', 'file'],
    ['/a%2F', 'file'],
  ])('that are documents are named as their URL says (%s: %s)', async (path, fileName) => {
    expect(await load('document', path)).toMatchObject({ fileName })
  })
})
