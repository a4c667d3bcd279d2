import type { LookupFunction } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRetryAfterMs } from '../src/media/fetch-failure.ts'
import { bytesMax, type MediaDownloads, openMediaDownloads, picture } from './media-downloads.ts'
import { openMediaHost } from './media-host.ts'

let downloads: MediaDownloads
beforeAll(async () => {
  downloads = await openMediaDownloads()
})
afterAll(() => downloads.close())

describe('media from a URL', () => {
  test.each(['/picture', '/moved', '/in-chunks', '/identity', '/gzip', '/brotli', '/deflate'])(
    'is fetched (%s)',
    async (path) => {
      expect(await downloads.fetched(downloads.host.origin + path)).toEqual(picture)
    },
  )

  test('may be as large as the limit', async () => {
    expect(await downloads.fetched(`${downloads.host.origin}/as-large-as-allowed`)).toHaveLength(bytesMax)
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
    ['/switches-protocols', 'media_fetch_failed'],
    ['/hints-without-end', 'media_fetch_failed'],
    ['/empty', 'invalid_media'],
    ['/gzip-bomb', 'media_too_large'],
    ['/brotli-bomb', 'media_too_large'],
    ['/no-deflate', 'media_fetch_failed'],
    ['/two-encodings', 'media_fetch_failed'],
    ['/unknown-encoding', 'media_fetch_failed'],
  ])('is refused permanently, with a code (%s: %s)', async (path, code) => {
    await expect(downloads.fetched(downloads.host.origin + path)).rejects.toMatchObject({
      name: 'MediaError',
      code,
    })
  })

  test.each([
    '/broken',
    '/request-timeout',
    '/too-early',
    '/too-many',
    '/bad-gateway',
    '/truncated',
    '/gzip-cut',
    '/chunks-cut',
    '/half-closed',
    '/hangs-up',
  ])('may be fetched later after a temporary failure of the host or the network (%s)', async (path) => {
    await expect(downloads.fetched(downloads.host.origin + path)).rejects.toMatchObject({
      name: 'MediaUnavailable',
      code: 'media_fetch_failed',
    })
  })

  test('is asked for as by a browser, with headers that firewalls expect', async () => {
    const { host, fetched } = downloads
    expect(JSON.parse(String(await fetched(`${host.origin}/headers`)))).toEqual({
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'Mozilla/5.0 (compatible; wagate)',
      host: host.origin.replace('http://', ''),
      connection: 'close',
    })
  })

  const failed = 'The media URL could not be fetched: '
  test.each([
    ['/away', `${failed}its host answered with status 404.`],
    ['/forbidden', `${failed}its host answered with status 403.`],
    ['/broken', `${failed}its host answered with status 500.`],
    ['/hangs-up', `${failed}the connection to its host failed (ECONNRESET).`],
    ['/truncated', `${failed}the connection to its host failed (ECONNRESET).`],
    ['/unknown-encoding', `${failed}its host sent it in an unknown encoding.`],
    ['/no-deflate', `${failed}its host sent a damaged encoding (Z_DATA_ERROR).`],
    ['/empty', 'The media file cannot be sent: it is empty.'],
  ])('has an error that says what its host did (%s)', async (path, message) => {
    await expect(downloads.fetched(downloads.host.origin + path)).rejects.toMatchObject({ message })
  })

  test('has an error that names the code of a secure connection that fails', async () => {
    const { host, fetched } = downloads
    await expect(fetched(host.origin.replace('http:', 'https:'))).rejects.toMatchObject({
      message: expect.stringMatching(/^The media URL could not be fetched: .*\([A-Z_]+\)\.$/),
    })
  })

  test('may be fetched later when nothing listens', async () => {
    const closed = await openMediaHost({})
    closed.close()
    await expect(downloads.fetched(`${closed.origin}/`)).rejects.toMatchObject({ name: 'MediaUnavailable' })
  })

  test.each([
    ['EAI_AGAIN', 'MediaUnavailable', 'no name server answered for its host (EAI_AGAIN)'],
    ['ENOTFOUND', 'MediaError', 'the name of its host does not exist (ENOTFOUND)'],
  ])(
    'may come later when name servers do not answer, not when there is no such name (%s)',
    async (code, name, detail) => {
      const failing = {
        lookup: (): LookupFunction => (_, __, done) => done(Object.assign(new Error(code), { code }), ''),
      }
      await expect(downloads.fetched('http://media.test/', failing)).rejects.toMatchObject({
        name,
        message: `The media URL could not be fetched: ${detail}.`,
      })
    },
  )

  test.each(['/drip', '/silent', '/silent-after-head'])(
    'is given up for now when it does not come in time (%s)',
    async (path) => {
      await expect(
        downloads.fetched(downloads.host.origin + path, { deadlineMs: 200 }),
      ).rejects.toMatchObject({
        name: 'MediaUnavailable',
        code: 'media_fetch_timeout',
      })
    },
  )

  test('reports when the host wants the next attempt', async () => {
    await expect(downloads.fetched(`${downloads.host.origin}/busy`)).rejects.toMatchObject({
      retryAfterMs: 7000,
    })
    await expect(downloads.fetched(`${downloads.host.origin}/broken`)).rejects.toMatchObject({
      retryAfterMs: undefined,
    })
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
