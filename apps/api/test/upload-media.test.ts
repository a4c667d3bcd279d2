import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { openMediaStore } from '@wagate/media-store/open-media-store'
import { makeNoisePng } from '@wagate/test-kit/media/media-samples'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, storedOf } from './gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-uploads-'))
const store = openMediaStore({ kind: 'folder', folder })
const mebibyte = 2 ** 20
const number = '4915199999999'
const limits = { filesMax: 5, bytesMax: 3 * mebibyte }
const picture = makeNoisePng(100)

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner({
    MEDIA_FOLDER: folder,
    UPLOADED_MEDIA_HOURS: '30',
    UPLOADED_MEDIA_ACCOUNT_FILES_MAX: String(limits.filesMax),
    UPLOADED_MEDIA_ACCOUNT_BYTES_MAX: String(limits.bytesMax),
    MEDIA_IMAGE_BYTES_MAX: String(mebibyte),
    MEDIA_AUDIO_BYTES_MAX: String(mebibyte),
    MEDIA_VIDEO_BYTES_MAX: String(mebibyte),
    MEDIA_DOCUMENT_BYTES_MAX: String(2 * mebibyte),
  })
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true })
})

type Sender = Awaited<ReturnType<typeof createSender>>

function upload({ account }: Pick<Sender, 'account'>, body: Buffer | FormData, query = '') {
  return account.request(`/upload-media${query}`, {
    method: 'POST',
    body: body instanceof Buffer ? new Uint8Array(body) : body,
  })
}

function send({ account, sender }: Sender, media_id: unknown, fields: Record<string, unknown> = {}) {
  return account.post('/send-media', { sender, number, type: 'document', media_id, ...fields })
}

const rowsOf = ({ account }: Pick<Sender, 'account'>) =>
  gateway.db.$client<{ media_id: string; stored_at: string | null; has_expired: boolean }[]>`
    SELECT media_id, stored_at, expires_at <= now() AS has_expired FROM uploaded_media WHERE account_id = ${account.userId}`

const staged = () => readdirSync(join(folder, 'unfinished'))

function formWith(bytes: Buffer, filename: string): FormData {
  const form = new FormData()
  form.append('note', 'first')
  form.append('file', new Blob([new Uint8Array(bytes)]), filename)
  form.append('after', 'last')
  return form
}

describe('upload-media', () => {
  test.each([
    ['as the body', (bytes: Buffer) => bytes, null],
    ['in a form', (bytes: Buffer) => formWith(bytes, 'C:\\files\\Grüße "1".png'), 'Grüße "1".png'],
  ])('stores a file %s, which any number of messages can have', async (_, toBody, filename) => {
    const tenant = await createSender(gateway)
    // It contains what separates the parts of a form.
    const bytes = Buffer.concat([
      picture,
      Buffer.from('\r\n--'),
      randomBytes(300_000),
      Buffer.from('\r\n--x--\r\n'),
    ])
    const { status, body } = await upload(tenant, toBody(bytes), '?type=image')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { mime: 'image/png', size: bytes.length, sha256, filename },
    })
    const mediaId = String(body.media_id)
    const stored = await store.read({ accountId: tenant.account.userId, sha256, uploadId: mediaId })
    expect(stored && (await buffer(stored)).equals(bytes)).toBe(true)
    for (let times = 0; times < 3; times++) {
      expect(await send(tenant, mediaId)).toMatchObject({
        status: 200,
        body: { status: 'queued' },
      })
    }
    expect(await storedOf(tenant.account)).toMatchObject(
      Array.from({ length: 3 }, () => ({ type: 'document', url: `media:${mediaId}`, filename })),
    )
    expect(staged()).toEqual([])
  })

  test('keeps a file for as long as the setting says', async () => {
    const tenant = await createSender(gateway)
    const { body } = await upload(tenant, picture)
    const hours = (Date.parse(String(body.expires_at)) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(29)
    expect(hours).toBeLessThan(31)
  })

  test.each([
    ['an empty body', Buffer.alloc(0), '', 400, 'invalid_media'],
    ['a file of another type', randomBytes(1000), '?type=image', 400, 'invalid_media'],
    ['a large file of another type', randomBytes(mebibyte / 2), '?type=video', 400, 'invalid_media'],
    [
      'a file above the limit of its type',
      Buffer.concat([picture, randomBytes(mebibyte)]),
      '?type=image',
      413,
      'payload_too_large',
    ],
    ['a file above all limits', randomBytes(2 * mebibyte + 1), '', 413, 'payload_too_large'],
    [
      'a file above the limit in a form',
      formWith(randomBytes(2 * mebibyte + 1), 'x'),
      '',
      413,
      'payload_too_large',
    ],
    ['an empty file in a form', formWith(Buffer.alloc(0), 'x'), '', 400, 'invalid_media'],
    ['a form without a file', new FormData(), '', 400, 'missing_parameter'],
  ])('refuses %s, and keeps nothing', async (_, body, query, status, code) => {
    const tenant = await createSender(gateway)
    expect(await upload(tenant, body, query)).toMatchObject({ status, body: { code } })
    expect(await rowsOf(tenant)).toEqual([])
    expect(staged()).toEqual([])
  })

  test('refuses a cut-off form, a form without a boundary and a compressed body', async () => {
    const tenant = await createSender(gateway)
    const ask = (headers: Record<string, string>, body: string) =>
      tenant.account.request('/upload-media', { method: 'POST', headers, body })
    const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\nbytes'
    const form = { 'content-type': 'multipart/form-data; boundary=b' }
    expect((await ask(form, part)).body.code).toBe('invalid_media')
    expect((await ask(form, `${part}\r\n--b--\r\n`)).status).toBe(200)
    expect((await ask({ 'content-type': 'multipart/form-data' }, part)).status).toBe(415)
    expect((await ask({ 'content-encoding': 'gzip' }, part)).status).toBe(415)
    expect(await rowsOf(tenant)).toHaveLength(1)
    expect(staged()).toEqual([])
  })

  test('leaves nothing when the client breaks off', async () => {
    const tenant = await createSender(gateway)
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.write(
      `POST /upload-media HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${tenant.account.apiKey}\r\nContent-Length: 1000000\r\n\r\n`,
    )
    socket.write(randomBytes(200_000))
    await vi.waitFor(() => expect(staged()).toHaveLength(1), eventually)
    socket.destroy()
    await vi.waitFor(() => expect(staged()).toHaveLength(0), eventually)
    expect(await rowsOf(tenant)).toEqual([])
    expect((await upload(tenant, picture)).status).toBe(200)
  })

  test('leaves nothing that could be used when the store fails', async () => {
    const tenant = await createSender(gateway)
    // Where the folder of the account would be.
    writeFileSync(join(folder, String(tenant.account.userId)), '')
    expect(await upload(tenant, picture)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    // Housekeeping removes it, and it does not count until then.
    expect(await rowsOf(tenant)).toMatchObject([{ stored_at: null, has_expired: true }])
    expect(staged()).toEqual([])
  })

  test('names the limit that the account has reached, however many uploads come at the same time', async () => {
    const [many, large] = [await createSender(gateway), await createSender(gateway)]
    const files = await Promise.all(Array.from({ length: 8 }, () => upload(many, picture)))
    const byStatus = (answers: { status: number }[], status: number) =>
      answers.filter((one) => one.status === status)
    expect(byStatus(files, 200)).toHaveLength(limits.filesMax)
    for (const refused of byStatus(files, 403)) {
      expect(refused).toMatchObject({
        body: { code: 'upload_limit_reached', error: expect.stringContaining('5 uploaded files') },
      })
    }
    const bytes = await Promise.all(Array.from({ length: 4 }, () => upload(large, randomBytes(mebibyte))))
    expect(byStatus(bytes, 200)).toHaveLength(3)
    expect(byStatus(bytes, 403)).toMatchObject([
      { body: { code: 'upload_limit_reached', error: expect.stringContaining(`${limits.bytesMax} bytes`) } },
    ])
    expect(await rowsOf(large)).toHaveLength(3)
    // Expired files do not count.
    await gateway.db
      .$client`UPDATE uploaded_media SET expires_at = now() WHERE account_id = ${large.account.userId}`
    expect((await upload(large, randomBytes(mebibyte))).status).toBe(200)
  })
})
