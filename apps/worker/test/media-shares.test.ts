import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { makeHostNames } from '@wagate/runtime/host-names'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config/config.ts'
import { MediaUnavailable } from '../src/media/media-error.ts'
import { type MediaSource, makeMediaFile } from '../src/media/media-file.ts'
import { makeMediaRoom } from '../src/media/media-room.ts'
import { makeMediaShares, makeSlowHosts } from '../src/media/media-shares.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

const mebibyte = 2 ** 20
const config = readConfig({
  DATABASE_URL: 'postgres://localhost/wagate',
  REDIS_URL: 'redis://localhost',
  MASTER_KEY: randomBytes(32).toString('base64'),
  ALLOW_PRIVATE_MEDIA_HOSTS: 'true',
  MEDIA_MEMORY_BYTES: String(200 * mebibyte),
})
const db = openDatabase(config.databaseUrl, {
  poolSize: 1,
  applicationName: 'test',
  statementTimeoutMs: 1000,
})

const drip =
  (headers: Record<string, string>): RequestListener =>
  (_, response) => {
    response.writeHead(200, headers)
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  }
/** Each is one of the ways to keep room: a body of no length, and one that announces more than it sends. */
const pages: Record<string, RequestListener> = {
  '/drip': drip({}),
  '/large-drip': drip({ 'content-length': String(100 * mebibyte) }),
  '/picture': (_, response) => response.end('a picture'),
}

let folder: string
let host: MediaHost
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wagate-test-'))
  vi.stubEnv('TMPDIR', folder)
})
beforeEach(async () => {
  host = await openMediaHost(pages)
})
afterEach(() => host.close())
afterAll(async () => {
  await closeDatabase(db)
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

/** The shares of a worker, seen by a device of each account. */
function makeSources() {
  const shares = makeMediaShares(config.media.memoryBytes)
  return (accountId: number): MediaSource => ({
    config,
    db,
    media: { shares, hostNames: makeHostNames(), store: { read: async () => undefined } },
    device: { id: accountId, accountId },
  })
}

const fetchFile = (source: MediaSource, path: string) =>
  makeMediaFile(source, {
    id: '01a1fba9-258d-78fe-a2f7-2087837c26d1',
    type: 'document',
    url: host.origin + path,
    body: null,
    filename: null,
  })

describe('room for media', () => {
  test.each(['/drip', '/large-drip'])(
    'of one account that fetches slow files is no other account’s (%s)',
    async (path) => {
      const sourceOf = makeSources()
      // More than one account may fetch at a time.
      const dripping = Array.from({ length: 40 }, () => fetchFile(sourceOf(1), path).catch(() => undefined))
      await vi.waitFor(() => expect(host.hits()).toBeGreaterThanOrEqual(8), eventually)
      const startedAtMs = performance.now()
      for (let n = 0; n < 20; n++) await (await fetchFile(sourceOf(2), '/picture')).remove()
      expect(performance.now() - startedAtMs).toBeLessThan(3000)
      host.close()
      await Promise.all(dripping)
    },
  )

  test('is released when a fetch fails and when a file is removed', async () => {
    const mediaBytes = makeFairSemaphore(10, { shareMax: 10 })
    const room = makeMediaRoom(mediaBytes, 'a')
    expect([room.tryGrow(4), room.tryGrow(10), room.tryGrow(11)]).toEqual([true, true, false])
    expect(mediaBytes.tryAcquire('b', 1)).toBeUndefined()
    room.release()
    const release = mediaBytes.tryAcquire('b', 4)
    // What it holds itself must not keep it waiting.
    room.tryGrow(6)
    const waited = room.wait(10)
    release?.()
    await waited
    room.release()
    expect(mediaBytes.tryAcquire('b', 10)).toBeDefined()
  })
})

describe('a slow host', () => {
  const timeOut = async () => {
    throw new MediaUnavailable('media_fetch_timeout')
  }

  test('serves one fetch of a device at a time after a timeout', async () => {
    const hosts = makeSlowHosts()
    await expect(hosts.visit(1, 'http://slow.test/1', timeOut)).rejects.toThrow(MediaUnavailable)
    let end: () => void = () => undefined
    const running = hosts.visit(
      1,
      'http://slow.test/2',
      () => new Promise<void>((resolve) => (end = resolve)),
    )
    await expect(hosts.visit(1, 'http://slow.test/3', async () => undefined)).rejects.toMatchObject({
      code: 'media_fetch_timeout',
    })
    await hosts.visit(1, 'http://other.test/', async () => undefined)
    await hosts.visit(2, 'http://slow.test/', async () => undefined)
    end()
    await running
    await hosts.visit(1, 'http://slow.test/3', async () => undefined)
  })
})
