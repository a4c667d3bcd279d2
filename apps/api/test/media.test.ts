import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { keyOf } from '@wagate/media-store/media-store'
import { openMediaStore } from '@wagate/media-store/open-media-store'
import { makeMessageId } from '@wagate/shared/ids'
import { signMediaLink } from '@wagate/shared/media-links'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-api-media-'))
const store = openMediaStore({ kind: 'folder', folder })
const bytes = randomBytes(1000)
const sha256 = createHash('sha256').update(bytes).digest('hex')
const etag = `"${sha256}"`

let gateway: Gateway
let account: Awaited<ReturnType<Gateway['createAccount']>>
let id: string

beforeAll(async () => {
  gateway = await startGateway({ MEDIA_FOLDER: folder })
  account = await gateway.createAccount()
  const path = join(folder, 'file')
  writeFileSync(path, bytes)
  await store.put({ accountId: account.userId, sha256 }, { path, size: bytes.length })
  id = await addMedia('stored')
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true })
})

async function addMedia(state: string, reason: string | null = null, storedAs = sha256): Promise<string> {
  const messageId = makeMessageId('4915112345678')
  const sealed = state === 'pending' ? Buffer.from('sealed') : null
  await gateway.db.$client`
    INSERT INTO received_media
      (message_id, account_id, device_id, state, reason, mime, filename, size, sha256, sealed)
    VALUES (${messageId}, ${account.userId}, 1, ${state}, ${reason}, 'image/png', 'Grüße "1".png', ${bytes.length},
      decode(${storedAs}, 'hex'), ${sealed})`
  return messageId
}

const key = () => ({ 'x-api-key': account.apiKey })
const get = (query: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${gateway.url}/media?${query}`, { method, headers })

async function linkTo(messageId: string, accountId = account.userId, nowMs = Date.now()): Promise<string> {
  const [row] = await gateway.db.$client<{ key: Buffer }[]>`SELECT media_link_key AS key FROM installation`
  return signMediaLink(row?.key ?? Buffer.alloc(0), { accountId, messageId }, nowMs)
}

test('the file is an attachment that no browser shows as a page', async () => {
  const answer = await get(`id=${id}`, key())
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': '1000',
    'content-disposition': `attachment; filename="Gr__e _1_.png"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%221%22.png`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    etag,
  })
})

test('HEAD has the same headers and no body', async () => {
  const answer = await get(`id=${id}`, key(), 'HEAD')
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '1000'])
  expect(await answer.text()).toBe('')
})

test.each([
  ['bytes=0-9', 206, 'bytes 0-9/1000', 0, 10],
  ['bytes=990-', 206, 'bytes 990-999/1000', 990, 1000],
  ['bytes=-5', 206, 'bytes 995-999/1000', 995, 1000],
  ['bytes=-5000', 206, 'bytes 0-999/1000', 0, 1000],
  ['bytes=5-5000', 206, 'bytes 5-999/1000', 5, 1000],
  ['bytes=9-5', 200, null, 0, 1000],
  ['bytes=0-1,5-6', 200, null, 0, 1000],
  ['lines=1-2', 200, null, 0, 1000],
])('the range %s is answered with %i', async (range, status, contentRange, first, end) => {
  const answer = await get(`id=${id}`, { ...key(), range })
  expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange])
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes.subarray(first, end))
})

test.each(['bytes=1000-', 'bytes=-0'])('the range %s is beyond the file', async (range) => {
  const answer = await get(`id=${id}`, { ...key(), range })
  expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */1000'])
  expect(await answer.json()).toMatchObject({ code: 'range_not_satisfiable' })
})

test('a range of another version of the file is not used', async () => {
  const headers = { ...key(), range: 'bytes=0-9' }
  expect((await get(`id=${id}`, { ...headers, 'if-range': etag })).status).toBe(206)
  expect((await get(`id=${id}`, { ...headers, 'if-range': '"other"' })).status).toBe(200)
})

test('a link needs no API key, and opens nothing but its file until it expires', async () => {
  expect((await get(await linkTo(id))).status).toBe(200)
  const refused = [
    (await linkTo(id)).replace(id, await addMedia('stored')),
    await linkTo(id, account.userId, Date.now() - 3 * 3_600_000),
    `id=${id}&signature=x`,
  ]
  for (const query of refused) {
    const answer = await get(query)
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({ code: 'media_link_invalid' })
  }
  const ofOther = await get(await linkTo(id, (await gateway.createAccount()).userId))
  expect(ofOther.status).toBe(404)
})

test('the file of another account looks like none', async () => {
  const other = await gateway.createAccount()
  const answers = [
    await other.get('/media', { id }),
    await other.get('/media', { id: makeMessageId('4915') }),
  ]
  for (const { status, body } of answers) expect([status, body.code]).toEqual([404, 'media_not_found'])
})

test('nothing is given out without an API key or a link', async () => {
  expect(await gateway.anonymous.get('/media', { id })).toMatchObject({
    status: 401,
    body: { code: 'missing_api_key' },
  })
  expect(await account.get('/media')).toMatchObject({ status: 400, body: { code: 'missing_parameter' } })
})

test('a file that is not there yet says when to retry, and one that never will be says why', async () => {
  const pending = await account.get('/media', { id: await addMedia('pending') })
  expect(pending).toMatchObject({ status: 409, body: { code: 'media_pending' } })
  expect(pending.headers.get('retry-after')).toBe('5')
  expect(await account.get('/media', { id: await addMedia('unavailable', 'quota') })).toMatchObject({
    status: 404,
    body: { code: 'media_unavailable', error: 'The gateway does not have the file: quota.' },
  })
})

test('a file that the store opens after the request has timed out is closed again', async () => {
  const late = 'f'.repeat(64)
  const path = join(folder, keyOf({ accountId: account.userId, sha256: late }))
  mkdirSync(dirname(path), { recursive: true })
  // Opening a named pipe takes until somebody writes to it.
  execFileSync('mkfifo', [path])
  const answer = await account.get('/media', { id: await addMedia('stored', null, late) })
  expect([answer.status, answer.body.code]).toEqual([503, 'unavailable'])
  const writer = await open(path, 'w')
  await expect.poll(() => writer.write('x').catch(({ code }) => code)).toBe('EPIPE')
  await writer.close()
})
