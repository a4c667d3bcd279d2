import type { RequestListener } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FetchLimits, fetchMedia } from '../src/outbox/fetch-media.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

const bytesMax = 100_000
const picture = Buffer.alloc(5000, 7)

const packed =
  (encoding: string, body: Buffer): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body)

const status =
  (code: number): RequestListener =>
  (_, response) =>
    response.writeHead(code).end(picture)

/** What the media host does, by path. */
const pages: Record<string, RequestListener> = {
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
  '/hangs-up': ({ socket }) => {
    socket.destroy()
  },
  '/empty': (_, response) => response.end(),
  '/gzip': packed('gzip', gzipSync(Buffer.alloc(1_000_000))),
  '/brotli': packed('br', brotliCompressSync(Buffer.alloc(1_000_000))),
  '/deflate': packed('deflate', Buffer.alloc(10)),
  '/identity': packed('identity', picture),
}

let host: MediaHost
beforeAll(async () => {
  host = await openMediaHost(pages)
})
afterAll(() => host.close())

const limits: FetchLimits = {
  bytesMax,
  deadlineMs: 5000,
  isForbidden: () => false,
  room: { tryTake: () => true, take: async () => undefined },
}

describe('media from a URL', () => {
  it.each(['/picture', '/moved', '/in-chunks'])('is fetched (%s)', async (path) => {
    expect(await fetchMedia(host.origin + path, limits)).toEqual(picture)
  })

  it('may be as large as is allowed', async () => {
    expect(await fetchMedia(`${host.origin}/as-large-as-allowed`, limits)).toHaveLength(bytesMax)
  })

  it.each([
    ['/away', 'media_fetch_failed'],
    ['/created', 'media_fetch_failed'],
    ['/in-part', 'media_fetch_failed'],
    ['/broken', 'media_fetch_failed'],
    ['/moved-nowhere', 'media_fetch_failed'],
    ['/circle', 'media_fetch_failed'],
    ['/large', 'media_too_large'],
    ['/larger-than-allowed', 'media_too_large'],
    ['/endless', 'media_too_large'],
    ['/truncated', 'media_fetch_failed'],
    ['/chunks-cut', 'media_fetch_failed'],
    ['/half-closed', 'media_fetch_failed'],
    ['/two-lengths', 'media_fetch_failed'],
    ['/bad-length', 'media_fetch_failed'],
    ['/no-http', 'media_fetch_failed'],
    ['/hangs-up', 'media_fetch_failed'],
    ['/empty', 'invalid_media'],
    ['/gzip', 'media_fetch_failed'],
    ['/brotli', 'media_fetch_failed'],
    ['/deflate', 'media_fetch_failed'],
    ['/identity', 'media_fetch_failed'],
  ])('is refused with its code (%s: %s)', async (path, code) => {
    await expect(fetchMedia(host.origin + path, limits)).rejects.toMatchObject({ code })
  })

  it.each(['/drip', '/silent', '/silent-after-head'])(
    'is given up when it does not come in time (%s)',
    async (path) => {
      const fetched = fetchMedia(host.origin + path, { ...limits, deadlineMs: 200 })
      await expect(fetched).rejects.toMatchObject({ code: 'media_fetch_timeout' })
    },
  )
})

describe('memory for media', () => {
  it.each([
    ['/picture', picture.length],
    ['/in-chunks', bytesMax],
  ])('is taken before a body is read: what is announced, else the most (%s)', async (path, bytes) => {
    const taken: number[] = []
    const tryTake = (size: number) => taken.push(size) > 0
    await fetchMedia(host.origin + path, { ...limits, room: { ...limits.room, tryTake } })
    expect(taken).toEqual([bytes])
  })

  it('is waited for without a connection, however long that takes', async () => {
    const before = host.hits()
    let makeRoom: () => void = () => undefined
    const waited = new Promise<void>((resolve) => {
      makeRoom = resolve
    })
    const asked: number[] = []
    const room = {
      tryTake: () => false,
      take(bytes: number) {
        asked.push(bytes)
        return waited
      },
    }
    const fetched = fetchMedia(`${host.origin}/picture`, { ...limits, room })
    await expect.poll(() => asked).toEqual([picture.length])
    expect(host.hits()).toBe(before + 1)
    makeRoom()
    expect(await fetched).toEqual(picture)
    expect(host.hits()).toBe(before + 2)
  })

  it('is not taken beyond what was asked for, when a file has grown meanwhile', async () => {
    let size = 10
    pages['/grows'] = (_, response) => {
      size *= 2
      response.end(Buffer.alloc(size))
    }
    const room = { tryTake: () => false, take: async () => undefined }
    const fetched = fetchMedia(`${host.origin}/grows`, { ...limits, room })
    await expect(fetched).rejects.toMatchObject({ code: 'media_fetch_failed' })
  })
})
