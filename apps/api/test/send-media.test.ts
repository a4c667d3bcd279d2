import { randomBytes } from 'node:crypto'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSender, type Gateway, randomPhone, startGatewayWithOwner, storedOf } from './gateway.ts'
import { titled } from './titled.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

describe('send-media', () => {
  test('accepts an http URL unchanged', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const url = 'https://example.com/a%20b.pdf?x=1'
    const given = { sender, number, type: 'document', url, caption: 'Invoice', filename: 'invoice.pdf' }
    for (const answer of [
      await account.post('/send-media', given),
      await account.get('/send-media', given),
    ]) {
      expect(answer).toMatchObject({
        status: 200,
        body: { ok: true, status: 'queued', type: 'document', sender, number, device_id: deviceId },
      })
    }
    expect(await storedOf(account)).toMatchObject([
      { type: 'document', url, caption: 'Invoice', message: null },
      { type: 'document', url },
    ])
    const [row] = await gateway.db
      .$client`SELECT filename FROM messages WHERE device_id = ${deviceId} LIMIT 1`
    expect(row?.filename).toBe('invoice.pdf')
  })

  test('stores the bytes of a data: URL and shows only their type', async () => {
    const { account, sender } = await createSender(gateway)
    const { body } = await account.post('/send-media', {
      sender,
      number,
      type: 'image',
      url: `data:text/plain;base64,${png}`,
    })
    expect(body).toMatchObject({ ok: true, type: 'image', status: 'queued' })
    const [blob] = await gateway.db.$client<{ mime: string; bytes: Buffer; account_id: number }[]>`
      SELECT mime, bytes, account_id FROM media_blobs WHERE message_id = ${String(body.message_id)}`
    expect(blob).toEqual({ mime: 'image/png', bytes: Buffer.from(png, 'base64'), account_id: account.userId })
    expect(await storedOf(account)).toMatchObject([{ url: 'data:image/png', type: 'image', caption: null }])
  })

  test('stores a large file completely and leaves no parts behind, whether accepted, replayed or refused', async () => {
    const { account, sender } = await createSender(gateway)
    const bytes = randomBytes(3 * 2 ** 20 + 1)
    // PHP escapes slashes in JSON.
    const base64 = bytes.toString('base64').replaceAll('/', '\\/')
    const given = { number, type: 'document' }
    const send = (sender: string, more = {}) =>
      account.post(
        '/send-media',
        JSON.stringify({ ...given, ...more, sender, url: 'URL' }).replace(
          'URL',
          `data:application/pdf;base64,${base64}`,
        ),
      )
    const key = { idempotency_key: 'large' }
    const [first, again] = [await send(sender, key), await send(sender, key)]
    expect(first.status).toBe(200)
    expect(again).toMatchObject({ status: 200, body: { message_id: first.body.message_id } })
    const [blob] = await gateway.db.$client<{ bytes: Buffer }[]>`
      SELECT bytes FROM media_blobs WHERE message_id = ${String(first.body.message_id)}`
    expect(blob?.bytes.equals(bytes)).toBe(true)
    expect((await send(randomPhone())).body).toMatchObject({ code: 'sender_not_found' })
    const parts = () => gateway.db.$client`SELECT 1 FROM media_parts WHERE account_id = ${account.userId}`
    await vi.waitFor(async () => expect(await parts()).toHaveLength(0), eventually)
  })

  test('accepts documents of any type, with the claimed type if none is detected', async () => {
    const { account, sender } = await createSender(gateway)
    const base64 = Buffer.from('just text').toString('base64')
    for (const [claimed, mime] of [
      ['text/csv', 'text/csv'],
      ['', 'text/plain'],
    ]) {
      const { body } = await account.post('/send-media', {
        sender,
        number,
        type: 'document',
        url: `data:${claimed};base64,${base64}`,
      })
      const [blob] = await gateway.db.$client`
        SELECT mime FROM media_blobs WHERE message_id = ${String(body.message_id)}`
      expect(blob?.mime).toBe(mime)
    }
  })

  test('accepts an image of 15 MB in the body and refuses one of 17 MB', async () => {
    const { account, sender } = await createSender(gateway)
    const send = (bytes: number) => {
      const image = Buffer.concat([Buffer.from(png, 'base64'), Buffer.alloc(bytes)])
      return account.post('/send-media', {
        sender,
        number,
        type: 'image',
        url: `data:image/png;base64,${image.toString('base64')}`,
      })
    }
    expect((await send(15 * 2 ** 20)).status).toBe(200)
    expect(await send(17 * 2 ** 20)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    expect(await send(20 * 2 ** 20)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  })

  test('equal data: URLs with one key are one message', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, type: 'image', url: `data:image/png;base64,${png}`, idempotency_key: 'k' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => account.post('/send-media', given)))
    expect(new Set(answers.map(({ body }) => body.message_id)).size).toBe(1)
    const blobs = await gateway.db.$client`SELECT 1 FROM media_blobs WHERE account_id = ${account.userId}`
    expect(blobs).toHaveLength(1)
    const url = `data:image/png;base64,${png.slice(0, -4)}AA==`
    expect(await account.post('/send-media', { ...given, url })).toMatchObject({ status: 422 })
  })

  test('stores no bytes without a linked sender', async () => {
    const account = await gateway.createAccount()
    const sender = randomPhone()
    await account.post('/create-device', { sender })
    const given = { sender, number, type: 'image', url: `data:image/png;base64,${png}` }
    expect((await account.post('/send-media', given)).status).toBe(409)
    expect(
      await gateway.db.$client`SELECT 1 FROM media_blobs WHERE account_id = ${account.userId}`,
    ).toHaveLength(0)
  })

  async function expectRefused(wrong: object, code: string): Promise<void> {
    const { account, sender } = await createSender(gateway)
    const right = { sender, number, type: 'image', url: 'https://example.com/x.png' }
    expect(await account.post('/send-media', { ...right, ...wrong })).toMatchObject({
      status: 400,
      body: { code },
    })
    expect(await storedOf(account)).toEqual([])
  }

  test.each(
    [
      { type: 'gif' },
      { url: 'example.com/x.png' },
      { url: 'https://' },
      { url: `https://example.com/${'x'.repeat(8200)}` },
      { caption: 'x'.repeat(1025) },
    ].map(titled),
  )('refuses %s', (_, wrong) => expectRefused(wrong, 'invalid_parameter'))

  test.each(
    [
      { url: 'data:image/png,abc' },
      { url: 'data:image/png' },
      { url: 'data:' },
      { url: 'data:,' },
      { url: 'data:image/png;base64' },
      { url: 'data:image/png;base64,' },
      { url: `data:image/png;${'x'.repeat(2048)};base64,${png}` },
      { url: `data:${'x'.repeat(2048)};base64,${png}` },
      { url: 'data:image/png;base64,!!!!' },
      { url: `data:image/png;base64,${png}=` },
      { url: `data:image/png;base64,${png}====` },
      { url: `data:image/png;base64,AA==${png}` },
      { url: `data:image/png;base64,${png.slice(0, 8)}-_-_${png.slice(12)}` },
      { url: `data:image/png;base64,${png.slice(0, 8)}%2B00${png.slice(12)}` },
      { url: `data:image/png;base64,${Buffer.from('<svg></svg>').toString('base64')}` },
      { url: `data:image/png;base64,${Buffer.from('<html></html>').toString('base64')}` },
      { url: `data:image/png;base64,${Buffer.from('GIF89a\x01\0\x01\0').toString('base64')}` },
      { type: 'video', url: `data:video/mp4;base64,${png}` },
      { type: 'audio', url: `data:audio/mpeg;base64,${png}` },
    ].map(titled),
  )('refuses the file of %s', (_, wrong) => expectRefused(wrong, 'invalid_media'))

  test.each([
    'ftp://example.com/x',
    'file:///etc/passwd',
    'gopher://example.com/x',
    'javascript:alert(1)',
    'https://user:secret@example.com/x',
    'https://user@example.com/x',
    'http://127.0.0.1/x.png',
    'http://127.1:6379/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://①②⑦.0.0.1/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://192.168.0.1/',
    'http://localhost:3000/',
    'http://a.localhost./',
  ])('refuses to fetch from %s', async (url) => {
    const { account, sender } = await createSender(gateway)
    expect(await account.post('/send-media', { sender, number, type: 'image', url })).toMatchObject({
      status: 403,
      body: { code: 'media_url_forbidden', details: [{ parameter: 'url' }] },
    })
    expect(await storedOf(account)).toEqual([])
  })

  test('names the missing parameters', async () => {
    const { account, sender } = await createSender(gateway)
    expect(await account.post('/send-media', { sender, number })).toMatchObject({
      status: 400,
      body: { code: 'missing_parameter', details: [{ parameter: 'type' }] },
    })
    expect(await account.post('/send-media', { sender, number, type: 'image' })).toMatchObject({
      status: 400,
      body: { code: 'missing_parameter', details: [{ parameter: 'url' }, { parameter: 'media_id' }] },
    })
  })
})
