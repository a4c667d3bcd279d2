import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { makeHostNames } from '@wagate/runtime/host-names'
import { type FetchLimits, fetchMedia } from '../src/media/fetch-media.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

export const bytesMax = 100_000
export const picture = Buffer.alloc(5000, 7)

const packed =
  (encoding: string, body: Buffer): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body)

const status =
  (code: number): RequestListener =>
  (_, response) =>
    response.writeHead(code).end(picture)

/** What the media host answers, by path. */
export const mediaPages: Record<string, RequestListener> = {
  '/picture': (_, response) => response.end(picture),
  '/in-chunks': (_, response) => {
    for (let start = 0; start < picture.length; start += 1000)
      response.write(picture.subarray(start, start + 1000))
    response.end()
  },
  '/as-large-as-allowed': (_, response) => response.end(Buffer.alloc(bytesMax)),
  '/away': status(404),
  '/created': status(201),
  '/in-part': status(206),
  '/broken': status(500),
  '/bad-gateway': status(502),
  '/request-timeout': status(408),
  '/too-early': status(425),
  '/too-many': status(429),
  '/busy': (_, response) => response.writeHead(503, { 'retry-after': '7' }).end(),
  '/megabyte-in-chunks': (_, response) => {
    for (let sent = 0; sent < 2 ** 20; sent += 2 ** 16) response.write(Buffer.alloc(2 ** 16))
    response.end()
  },
  '/moved': (_, response) => response.writeHead(302, { location: '/picture' }).end(),
  '/moved-nowhere': (_, response) => response.writeHead(302).end(),
  '/circle': (_, response) => response.writeHead(302, { location: '/circle' }).end(),
  '/large': (_, response) => response.writeHead(200, { 'content-length': bytesMax + 1 }).end(),
  '/larger-than-allowed': (_, response) => {
    for (let size = 0; size <= bytesMax; size += 1000) response.write(Buffer.alloc(1000))
    response.end()
  },
  '/endless': (_, response) => {
    const timer = setInterval(() => response.write(Buffer.alloc(16_384)), 1)
    response.on('close', () => clearInterval(timer))
  },
  '/drip': (_, response) => {
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  },
  '/silent': () => undefined,
  '/silent-after-head': (_, response) => response.writeHead(200).flushHeaders(),
  '/truncated': (_, response) => {
    response.writeHead(200, { 'content-length': 5000 })
    response.write(picture.subarray(0, 100), () => response.destroy())
  },
  '/chunks-cut': (_, response) => {
    response.write(picture.subarray(0, 100), () => response.destroy())
  },
  '/half-closed': ({ socket }) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nabc')
  },
  '/two-lengths': ({ socket }) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5000\r\n\r\nabc')
  },
  '/bad-length': ({ socket }) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc')
  },
  '/no-http': ({ socket }) => {
    socket.end('+PONG\r\n')
  },
  '/switches-protocols': ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  },
  '/hints-without-end': ({ socket }) => {
    const write = () => {
      if (socket.writable) socket.write('HTTP/1.1 103 Early Hints\r\n\r\n', () => setImmediate(write))
    }
    write()
  },
  '/hangs-up': ({ socket }) => {
    socket.destroy()
  },
  '/empty': (_, response) => response.end(),
  '/headers': ({ headers }, response) => response.end(JSON.stringify(headers)),
  '/forbidden': status(403),
  '/identity': packed('identity', picture),
  '/gzip': packed('gzip', gzipSync(picture)),
  '/brotli': packed('BR', brotliCompressSync(picture)),
  '/deflate': packed('deflate', deflateSync(picture)),
  '/gzip-bomb': packed('gzip', gzipSync(Buffer.alloc(1_000_000))),
  '/brotli-bomb': packed('br', brotliCompressSync(Buffer.alloc(1_000_000))),
  '/no-deflate': packed('deflate', Buffer.alloc(10)),
  '/two-encodings': packed('gzip, br', gzipSync(picture)),
  '/unknown-encoding': packed('zstd', picture),
  '/gzip-cut': (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 5000 })
    response.write(gzipSync(picture).subarray(0, 20), () => response.destroy())
  },
}

const limits: FetchLimits = {
  bytesMax,
  deadlineMs: 5000,
  isForbidden: () => false,
  room: { tryGrow: () => true, wait: async () => undefined, release: () => undefined },
  lookup: makeHostNames().ofOwner('test'),
}

export type MediaDownloads = {
  host: MediaHost
  /** What was downloaded. The limits are those above, but for those given. */
  fetched(url: string, more?: Partial<FetchLimits>): Promise<Buffer>
  close(): void
}

/** A media host with the pages above, and a folder to download to. */
export async function openMediaDownloads(): Promise<MediaDownloads> {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
  const host = await openMediaHost(mediaPages)
  return {
    host,
    async fetched(url, more = {}) {
      const file = join(folder, 'file')
      await fetchMedia(url, file, { ...limits, ...more })
      return readFileSync(file)
    },
    close() {
      host.close()
      rmSync(folder, { recursive: true })
    },
  }
}
