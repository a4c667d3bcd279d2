import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FetchLimits, fetchMedia } from '../src/outbox/fetch-media.ts'

const bytesMax = 100_000
const picture = Buffer.alloc(5000, 7)

/** What the media host does, by path. */
const pages: Record<string, RequestListener> = {
  '/picture': (_, response) => response.end(picture),
  '/away': (_, response) => response.writeHead(404).end(),
  '/moved': (_, response) => response.writeHead(302, { location: '/picture' }).end(),
  '/circle': (_, response) => response.writeHead(302, { location: '/circle' }).end(),
  '/to-file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/large': (_, response) => response.writeHead(200, { 'content-length': bytesMax + 1 }).end(),
  '/endless': (_, response) => {
    const timer = setInterval(() => response.write(Buffer.alloc(16_384)), 1)
    response.on('close', () => clearInterval(timer))
  },
  '/drip': (_, response) => {
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  },
  '/truncated': (_, response) => {
    response.writeHead(200, { 'content-length': 5000 })
    response.write(picture.subarray(0, 100), () => response.destroy())
  },
  '/packed': (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000))),
}

let server: Server
let origin: string
let hits = 0

beforeAll(async () => {
  server = createServer((request, response) => {
    hits += 1
    pages[request.url ?? '']?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const limits: FetchLimits = {
  bytesMax,
  deadlineMs: 5000,
  allowPrivateHosts: true,
  reserve: async () => undefined,
}

describe('media from a URL', () => {
  it.each(['/picture', '/moved'])('is fetched (%s)', async (path) => {
    expect(await fetchMedia(origin + path, limits)).toEqual(picture)
  })

  it('reserves memory for its size before it is read', async () => {
    const reserved: number[] = []
    const reserve = async (bytes: number) => void reserved.push(bytes)
    await fetchMedia(`${origin}/picture`, { ...limits, reserve })
    expect(reserved).toEqual([picture.length])
  })

  it.each([
    ['/away', 'media_fetch_failed'],
    ['/circle', 'media_fetch_failed'],
    ['/to-file', 'media_url_forbidden'],
    ['/large', 'media_too_large'],
    ['/endless', 'media_too_large'],
    ['/truncated', 'media_fetch_failed'],
    ['/packed', 'media_fetch_failed'],
  ])('is refused with its code (%s: %s)', async (path, code) => {
    await expect(fetchMedia(origin + path, limits)).rejects.toMatchObject({ code })
  })

  it('is given up when it does not come in time', async () => {
    const fetched = fetchMedia(`${origin}/drip`, { ...limits, deadlineMs: 200 })
    await expect(fetched).rejects.toMatchObject({ code: 'media_fetch_timeout' })
  })
})

describe('an address inside', () => {
  const port = () => new URL(origin).port

  it.each([
    ['127.0.0.1', (host: string) => `http://${host}:${port()}/picture`],
    ['localhost', (host: string) => `http://${host}:${port()}/picture`],
    ['2130706433', (host: string) => `http://${host}:${port()}/picture`],
    ['0x7f000001', (host: string) => `http://${host}:${port()}/picture`],
    ['0177.0.0.1', (host: string) => `http://${host}:${port()}/picture`],
    ['127.1', (host: string) => `http://${host}:${port()}/picture`],
    ['0.0.0.0', (host: string) => `http://${host}:${port()}/picture`],
    ['[::ffff:127.0.0.1]', (host: string) => `http://${host}:${port()}/picture`],
    ['[::1]', (host: string) => `http://${host}:${port()}/picture`],
    ['169.254.169.254', (host: string) => `http://${host}/latest/meta-data`],
    ['168.63.129.16', (host: string) => `http://${host}/`],
    ['user info', () => `http://user:password@example.com:${port()}/picture`],
    ['ftp', () => 'ftp://example.com/picture'],
  ])('is never asked (%s)', async (host, urlOf) => {
    const before = hits
    const fetched = fetchMedia(urlOf(host), { ...limits, allowPrivateHosts: false })
    await expect(fetched).rejects.toMatchObject({ code: 'media_url_forbidden' })
    expect(hits).toBe(before)
  })
})
