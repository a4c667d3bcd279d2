import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRetryAfterMs } from '../src/media/fetch-failure.ts'
import { type FetchLimits, fetchMedia } from '../src/media/fetch-media.ts'
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
const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
beforeAll(async () => {
  host = await openMediaHost(pages)
})
afterAll(() => {
  host.close()
  rmSync(folder, { recursive: true })
})

const limits: FetchLimits = {
  bytesMax,
  deadlineMs: 5000,
  isForbidden: () => false,
  room: { tryGrow: () => true, wait: async () => undefined, release: () => undefined },
}

async function fetched(url: string, more: Partial<FetchLimits> = {}): Promise<Buffer> {
  const file = join(folder, 'file')
  await fetchMedia(url, file, { ...limits, ...more })
  return readFileSync(file)
}

describe('media from a URL', () => {
  test.each(['/picture', '/moved', '/in-chunks'])('is fetched (%s)', async (path) => {
    expect(await fetched(host.origin + path)).toEqual(picture)
  })

  test('may be as large as the limit', async () => {
    expect(await fetched(`${host.origin}/as-large-as-allowed`)).toHaveLength(bytesMax)
  })

  test.each([
    ['/away', 'media_fetch_failed'],
    ['/created', 'media_fetch_failed'],
    ['/in-part', 'media_fetch_failed'],
    ['/moved-nowhere', 'media_fetch_failed'],
    ['/circle', 'media_fetch_failed'],
    ['/large', 'media_too_large'],
    ['/larger-than-allowed', 'media_too_large'],
    ['/endless', 'media_too_large'],
    ['/two-lengths', 'media_fetch_failed'],
    ['/bad-length', 'media_fetch_failed'],
    ['/no-http', 'media_fetch_failed'],
    ['/empty', 'invalid_media'],
    ['/gzip', 'media_fetch_failed'],
    ['/brotli', 'media_fetch_failed'],
    ['/deflate', 'media_fetch_failed'],
    ['/identity', 'media_fetch_failed'],
  ])('is refused permanently, with a code (%s: %s)', async (path, code) => {
    await expect(fetched(host.origin + path)).rejects.toMatchObject({ name: 'MediaError', code })
  })

  test.each([
    '/broken',
    '/request-timeout',
    '/too-early',
    '/too-many',
    '/bad-gateway',
    '/truncated',
    '/chunks-cut',
    '/half-closed',
    '/hangs-up',
  ])('may be fetched later after a temporary failure of the host or the network (%s)', async (path) => {
    await expect(fetched(host.origin + path)).rejects.toMatchObject({
      name: 'MediaUnavailable',
      code: 'media_fetch_failed',
    })
  })

  test('may be fetched later when nothing listens', async () => {
    const closed = await openMediaHost({})
    closed.close()
    await expect(fetched(`${closed.origin}/`)).rejects.toMatchObject({ name: 'MediaUnavailable' })
  })

  test.each([
    ['EAI_AGAIN', 'MediaUnavailable'],
    ['ENOTFOUND', 'MediaError'],
  ])(
    'may come later when name servers do not answer, not when there is no such name (%s)',
    async (code, name) => {
      const failing = {
        lookup: (_name: string, _options: object, done: (error: Error, address: string) => void) =>
          done(Object.assign(new Error(code), { code }), ''),
      }
      await expect(fetched('http://media.test/', failing)).rejects.toMatchObject({ name })
    },
  )

  test.each(['/drip', '/silent', '/silent-after-head'])(
    'is given up for now when it does not come in time (%s)',
    async (path) => {
      await expect(fetched(host.origin + path, { deadlineMs: 200 })).rejects.toMatchObject({
        name: 'MediaUnavailable',
        code: 'media_fetch_timeout',
      })
    },
  )

  test('reports when the host wants the next attempt', async () => {
    await expect(fetched(`${host.origin}/busy`)).rejects.toMatchObject({ retryAfterMs: 7000 })
    await expect(fetched(`${host.origin}/broken`)).rejects.toMatchObject({ retryAfterMs: undefined })
  })

  test.each([
    ['0', 0],
    ['120', 120_000],
    ['31536000', 600_000],
    ['Thu, 01 Jan 1970 00:01:30 GMT', 30_000],
    ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
    ['soon', undefined],
  ])('accepts both forms of Retry-After, up to ten minutes (%s)', (value, ms) => {
    expect(readRetryAfterMs(value, 60_000)).toBe(ms)
  })
})

describe('room for media', () => {
  function makeRoom({ free = Number.POSITIVE_INFINITY } = {}) {
    const reserved: number[] = []
    const waited: number[] = []
    const room: FetchLimits['room'] = {
      tryGrow(bytes) {
        if (bytes > Math.max(free, ...waited)) return false
        reserved.push(bytes)
        return true
      },
      wait: async (bytes) => void waited.push(bytes),
      release: () => undefined,
    }
    return { room, reserved, waited }
  }

  test('is reserved before a body of known length is read', async () => {
    const { room, reserved } = makeRoom()
    await fetched(`${host.origin}/picture`, { room })
    expect(reserved).toEqual([picture.length])
  })

  test('grows with a body of unknown length', async () => {
    const { room, reserved } = makeRoom()
    await fetched(`${host.origin}/megabyte-in-chunks`, { room, bytesMax: 100e6 })
    expect(reserved.at(0)).toBe(256 * 1024)
    expect(reserved.at(-1)).toBe(1024 * 1024)
  })

  test('stays small for a host that sends almost nothing', async () => {
    const { room, reserved } = makeRoom()
    await fetched(`${host.origin}/drip`, { room, deadlineMs: 200, bytesMax: 100e6 }).catch(() => undefined)
    expect(reserved).toEqual([256 * 1024])
  })

  test.each([
    ['/picture', picture.length],
    ['/megabyte-in-chunks', 2 * 2 ** 20],
  ])('is waited for without holding a connection (%s)', async (path, bytes) => {
    const before = host.hits()
    const { room, waited } = makeRoom({ free: 300_000 * Number(path !== '/picture') })
    let makeFree: () => void = () => undefined
    const isFree = new Promise<void>((resolve) => {
      makeFree = resolve
    })
    const waiting = { ...room, wait: (wanted: number) => room.wait(wanted).then(() => isFree) }
    const body = fetched(host.origin + path, { room: waiting, bytesMax: 2 * 2 ** 20 })
    await expect.poll(() => waited).toEqual([bytes])
    expect(host.hits()).toBe(before + 1)
    makeFree()
    await body
    expect(host.hits()).toBe(before + 2)
  })

  test('does not exceed the reservation when the file has grown while it waited', async () => {
    let size = 10
    pages['/grows'] = (_, response) => {
      size *= 2
      response.end(Buffer.alloc(size))
    }
    const { room } = makeRoom({ free: 0 })
    await expect(fetched(`${host.origin}/grows`, { room })).rejects.toMatchObject({
      name: 'MediaUnavailable',
      code: 'media_fetch_failed',
    })
  })
})
