import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startApi } from '../src/start.ts'
import type { Client } from './client.ts'
import {
  createSender,
  type Gateway,
  linkDevice,
  ownShards,
  randomPhone,
  recordCommands,
  startGateway,
} from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
  await ownShards(gateway)
})
afterAll(() => gateway.close())

const number = '4915199999999'
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

async function storedOf(client: Client) {
  const { body } = await client.get('/messages')
  return body.messages as Record<string, unknown>[]
}

describe('send-message', () => {
  test('stores the message, tells the owner and answers queued', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const commands = await recordCommands(gateway, deviceId)
    const { status, body } = await account.post('/send-message', {
      sender: `+${sender}`,
      number: '+49 (151) 99 99 99 99',
      message: 'Hello 😀',
    })
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ok: true,
        message_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        status: 'queued',
        sender,
        number,
        device_id: deviceId,
      },
    })
    await vi.waitFor(() => expect(commands.seen).toEqual(['send']))
    await commands.close()
    const [row] = await gateway.db.$client`
      SELECT account_id, device_id, direction, type, body, status, wa_id, link_generation, send_at FROM messages
      WHERE id = ${String(body.message_id)}`
    expect(row).toEqual({
      account_id: account.userId,
      device_id: deviceId,
      direction: 'out',
      type: 'text',
      body: 'Hello 😀',
      status: 'queued',
      wa_id: expect.stringMatching(/^3EB0[0-9A-F]{18}$/),
      link_generation: 1,
      send_at: null,
    })
  })

  test('by GET and by form does the same', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'a+b & ü' }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await account.get('/send-message', given)).toMatchObject({
      status: 200,
      body: { status: 'queued' },
    })
    expect(
      await account.post('/api/send-message/', new URLSearchParams(given).toString(), form),
    ).toMatchObject({
      status: 200,
    })
    expect((await storedOf(account)).map(({ message }) => message)).toEqual(['a+b & ü', 'a+b & ü'])
  })

  test('is accepted while the socket is away, and refused when the device is not linked', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const send = () => account.post('/send-message', { sender, number, message: 'x' })
    const notConnected = { status: 409, body: { code: 'sender_not_connected' } }
    await gateway.db.$client`
      UPDATE devices SET connection = 'offline', offline_since = now() - interval '1 day' WHERE id = ${deviceId}`
    expect(await send()).toMatchObject({ status: 200 })
    await account.post('/logout-device', { sender })
    // Its credentials are still there: the owner has not looked yet.
    expect(await send()).toMatchObject(notConnected)
    const fresh = randomPhone()
    await account.post('/create-device', { sender: fresh })
    expect(await account.post('/send-message', { sender: fresh, number, message: 'x' })).toMatchObject(
      notConnected,
    )
    expect(await storedOf(account)).toHaveLength(1)
  })

  test('of an unknown sender is 404', async () => {
    const account = await gateway.createAccount()
    expect(
      await account.post('/send-message', { sender: randomPhone(), number, message: 'x' }),
    ).toMatchObject({
      status: 404,
      body: { code: 'sender_not_found' },
    })
  })

  test.each([
    { message: '' },
    { message: 'x'.repeat(4097) },
    { message: 5 },
    { message: 'a\0b' },
    { number: '12' },
    { number: '4915199999999@g.us' },
    { wait: 26 },
    { wait: 'long' },
    { send_at: 'tomorrow' },
    { send_at: '2020-01-01T00:00:00Z' },
    { send_at: new Date(Date.now() + 31 * 86_400_000).toISOString() },
    { idempotency_key: '' },
    { idempotency_key: 'x'.repeat(256) },
  ])('refuses case %#', async (wrong) => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'x', ...wrong }
    expect(await account.post('/send-message', given)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: Object.keys(wrong)[0] }] },
    })
    expect(await storedOf(account)).toEqual([])
  })

  test('takes 4,096 emoji', async () => {
    const { account, sender } = await createSender(gateway)
    expect((await account.post('/send-message', { sender, number, message: '😀'.repeat(4096) })).status).toBe(
      200,
    )
  })

  test('with send_at is scheduled', async () => {
    const { account, sender } = await createSender(gateway)
    const send_at = new Date(Date.now() + 86_400_000).toISOString()
    const { body } = await account.post('/send-message', {
      sender,
      number,
      message: 'later',
      send_at,
      wait: 5,
    })
    expect(body).toMatchObject({ ok: true, status: 'scheduled' })
    expect(await storedOf(account)).toMatchObject([{ status: 'scheduled', message: 'later' }])
  })

  test('keeps the order of what comes at once, and accepts all of it', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const messages = Array.from({ length: 300 }, (_, n) => `message ${n}`)
    const answers = await Promise.all(
      messages.map((message) => account.post('/send-message', { sender, number, message })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const rows = await gateway.db.$client<{ id: string }[]>`
      SELECT id FROM messages WHERE device_id = ${deviceId} ORDER BY seq`
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(answers.map(({ body }) => body.message_id)))

    for (const message of ['one', 'two', 'three'])
      await account.post('/send-message', { sender, number, message })
    const last = await gateway.db.$client<{ body: string }[]>`
      SELECT body FROM messages WHERE device_id = ${deviceId} ORDER BY seq DESC LIMIT 3`
    expect(last.map(({ body }) => body)).toEqual(['three', 'two', 'one'])
  })

  test('of many accounts at once stays with each account', async () => {
    const senders = await Promise.all(Array.from({ length: 5 }, () => createSender(gateway)))
    const stranger = await gateway.createAccount()
    const answers = await Promise.all(
      senders.flatMap(({ account, sender }) => [
        ...Array.from({ length: 20 }, (_, n) =>
          account.post('/send-message', { sender, number, message: `${n}` }),
        ),
        stranger.post('/send-message', { sender, number, message: 'stolen' }),
        account.post('/send-message', { sender: randomPhone(), number, message: 'nobody' }),
      ]),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(10)
    for (const { account, sender } of senders) {
      const stored = await storedOf(account)
      expect(stored).toHaveLength(20)
      expect(stored.every((message) => message.sender === sender && message.message !== 'stolen')).toBe(true)
    }
  })
})

describe('idempotency', () => {
  test('50 equal requests at once send one message', async () => {
    const { account, sender } = await createSender(gateway)
    const key = randomUUID()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        n % 2 === 0
          ? account.post('/send-message', { sender, number, message: 'once', idempotency_key: key })
          : account.get('/send-message', { sender, number, message: 'once' }, { 'idempotency-key': key }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body.message_id)).size).toBe(1)
    const replays = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')
    expect(replays).toHaveLength(49)
    expect(await storedOf(account)).toHaveLength(1)
  })

  test('holds across two processes', async () => {
    const { account, sender } = await createSender(gateway)
    const other = await startSecondApi()
    try {
      const key = randomUUID()
      const given = { sender, number, message: 'once', idempotency_key: key }
      const headers = { 'content-type': 'application/json', 'x-api-key': account.apiKey }
      const answers = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          if (n % 2 === 0) return (await account.post('/send-message', given)).body
          const init = { method: 'POST', headers, body: JSON.stringify(given) }
          return (await (await fetch(`${other.url}/send-message`, init)).json()) as Record<string, unknown>
        }),
      )
      expect(new Set(answers.map(({ message_id }) => message_id)).size).toBe(1)
      expect(await storedOf(account)).toHaveLength(1)
    } finally {
      await other.close()
    }
  })

  test('a replay answers as the first call did, with the newest status', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    const first = await account.post('/send-message', given)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    const again = await account.post('/send-message', { ...given, sender: `+${sender}` })
    expect(again.body).toEqual(first.body)
    await gateway.db.$client`
      UPDATE messages SET status = 'sent', sent_at = now() WHERE id = ${String(first.body.message_id)}`
    expect((await account.post('/send-message', given)).body).toEqual({ ...first.body, status: 'sent' })
  })

  test('a replay comes even when the sender is logged out meanwhile', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    const first = await account.post('/send-message', given)
    await account.post('/logout-device', { sender })
    expect((await account.post('/send-message', given)).body).toEqual(first.body)
    expect(await account.post('/send-message', { ...given, idempotency_key: 'new' })).toMatchObject({
      status: 409,
    })
  })

  test.each([{ message: 'other' }, { number: '4915188888888' }])(
    'another payload is 422: %j',
    async (other) => {
      const { account, sender } = await createSender(gateway)
      const given = { sender, number, message: 'x', idempotency_key: 'k' }
      await account.post('/send-message', given)
      expect(await account.post('/send-message', { ...given, ...other })).toMatchObject({
        status: 422,
        body: { code: 'idempotency_key_reused' },
      })
      const twins = await Promise.all([
        account.post('/send-message', { ...given, idempotency_key: 'l' }),
        account.post('/send-message', { ...given, idempotency_key: 'l', ...other }),
      ])
      expect(twins.map(({ status }) => status).sort()).toEqual([200, 422])
      expect(await storedOf(account)).toHaveLength(2)
    },
  )

  test('a key counts within the account and the operation, for 24 hours', async () => {
    const [one, other] = [await createSender(gateway), await createSender(gateway)]
    const given = { number, idempotency_key: 'k' }
    const text = { ...given, message: 'x' }
    const media = { ...given, type: 'image', url: 'https://example.com/x.png' }
    const ids = [
      await one.account.post('/send-message', { ...text, sender: one.sender }),
      await other.account.post('/send-message', { ...text, sender: other.sender }),
      await one.account.post('/send-media', { ...media, sender: one.sender }),
    ].map(({ body }) => body.message_id)
    expect(new Set(ids).size).toBe(3)

    await gateway.db.$client`UPDATE idempotency_keys SET created_at = created_at - interval '25 hours'`
    const later = await one.account.post('/send-message', { ...text, sender: one.sender, message: 'y' })
    expect(later.status).toBe(200)
    expect(later.headers.get('idempotent-replayed')).toBeNull()
    expect(ids).not.toContain(later.body.message_id)
  })

  test('what was refused is not kept', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    await account.post('/logout-device', { sender })
    expect((await account.post('/send-message', given)).status).toBe(409)
    await linkDevice(gateway, deviceId)
    const answer = await account.post('/send-message', given)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('idempotent-replayed')).toBeNull()
  })

  test('header and parameter may be the same, not different', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    expect((await account.post('/send-message', given, { 'idempotency-key': 'k' })).status).toBe(200)
    expect(await account.post('/send-message', given, { 'idempotency-key': 'other' })).toMatchObject({
      status: 400,
      body: { code: 'duplicate_parameter' },
    })
    const long = { 'idempotency-key': 'x'.repeat(256) }
    expect(await account.post('/send-message', { sender, number, message: 'x' }, long)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter' },
    })
  })
})

describe('wait', () => {
  test('holds the answer until the message is sent', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const answering = account.post('/send-message', { sender, number, message: 'x', wait: 20 })
    const messageId = await settle(deviceId, { status: 'sent' })
    await gateway.events.publish(deviceId, { kind: 'message', messageId, status: 'sent' })
    expect(await answering).toMatchObject({ status: 200, body: { message_id: messageId, status: 'sent' } })
  })

  test('answers a failure with 200, its status and its reason, even if no event comes', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const answering = account.post('/send-message', { sender, number, message: 'x', wait: 20 })
    await settle(deviceId, { status: 'failed', code: 'recipient_not_on_whatsapp', error: 'Not there.' })
    expect(await answering).toMatchObject({
      status: 200,
      body: { ok: true, status: 'failed', error: 'Not there.', error_code: 'recipient_not_on_whatsapp' },
    })
  })

  test('ends with the newest status when the time is up', async () => {
    const { account, sender } = await createSender(gateway)
    const answer = await account.post('/send-message', { sender, number, message: 'x', wait: 1 })
    expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } })
  })

  async function settle(deviceId: number, given: { status: string; code?: string; error?: string }) {
    return vi.waitFor(async () => {
      const [row] = await gateway.db.$client<{ id: string }[]>`
        UPDATE messages SET status = ${given.status}, error_code = ${given.code ?? null}, error = ${given.error ?? null}
        WHERE device_id = ${deviceId} RETURNING id`
      if (!row) throw new Error('There is no message yet')
      return row.id
    })
  }
})

describe('send-media', () => {
  test('takes an http URL as it is', async () => {
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

  test('keeps the bytes of a data: URL and shows only their type', async () => {
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

  test('takes a document of any type, the claimed one where bytes say nothing', async () => {
    const { account, sender } = await createSender(gateway)
    const base64 = Buffer.from('just text').toString('base64')
    for (const [claimed, mime] of [
      ['text/csv', 'text/csv'],
      ['', 'application/octet-stream'],
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

  test('takes an image of 15 MB in the body and refuses one of 17 MB', async () => {
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

  test('an equal data: URL under one key is one message', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, type: 'image', url: `data:image/png;base64,${png}`, idempotency_key: 'k' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => account.post('/send-media', given)))
    expect(new Set(answers.map(({ body }) => body.message_id)).size).toBe(1)
    const blobs = await gateway.db.$client`SELECT 1 FROM media_blobs WHERE account_id = ${account.userId}`
    expect(blobs).toHaveLength(1)
    const url = `data:image/png;base64,${png.slice(0, -4)}AA==`
    expect(await account.post('/send-media', { ...given, url })).toMatchObject({ status: 422 })
  })

  test('without a linked sender keeps no bytes', async () => {
    const account = await gateway.createAccount()
    const sender = randomPhone()
    await account.post('/create-device', { sender })
    const given = { sender, number, type: 'image', url: `data:image/png;base64,${png}` }
    expect((await account.post('/send-media', given)).status).toBe(409)
    expect(
      await gateway.db.$client`SELECT 1 FROM media_blobs WHERE account_id = ${account.userId}`,
    ).toHaveLength(0)
  })

  test.each([
    [{ type: 'gif' }, 'invalid_parameter'],
    [{ url: 'ftp://example.com/x' }, 'invalid_parameter'],
    [{ url: 'file:///etc/passwd' }, 'invalid_parameter'],
    [{ url: 'example.com/x.png' }, 'invalid_parameter'],
    [{ url: 'https://' }, 'invalid_parameter'],
    [{ url: 'https://user:secret@example.com/x' }, 'invalid_parameter'],
    [{ url: `https://example.com/${'x'.repeat(8200)}` }, 'invalid_parameter'],
    [{ caption: 'x'.repeat(1025) }, 'invalid_parameter'],
    [{ filename: '' }, 'invalid_parameter'],
    [{ url: 'data:image/png,abc' }, 'invalid_media'],
    [{ url: 'data:image/png;base64,' }, 'invalid_media'],
    [{ url: 'data:image/png;base64,!!!!' }, 'invalid_media'],
    [{ url: `data:image/png;base64,${Buffer.from('<svg></svg>').toString('base64')}` }, 'invalid_media'],
    [{ type: 'video', url: `data:video/mp4;base64,${png}` }, 'invalid_media'],
    [{ type: 'audio', url: `data:audio/mpeg;base64,${png}` }, 'invalid_media'],
  ])('refuses case %#', async (wrong, code) => {
    const { account, sender } = await createSender(gateway)
    const right = { sender, number, type: 'image', url: 'https://example.com/x.png' }
    expect(await account.post('/send-media', { ...right, ...wrong })).toMatchObject({
      status: 400,
      body: { code },
    })
    expect(await storedOf(account)).toEqual([])
  })

  test('names what is missing', async () => {
    const { account, sender } = await createSender(gateway)
    expect(await account.post('/send-media', { sender, number })).toMatchObject({
      status: 400,
      body: { code: 'missing_parameter', details: [{ parameter: 'type' }, { parameter: 'url' }] },
    })
  })
})

async function startSecondApi() {
  return startApi(
    readConfig({
      DATABASE_URL: gateway.databaseUrl,
      REDIS_URL: gateway.redisUrl,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'silent',
    }),
  )
}
