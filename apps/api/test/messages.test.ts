import { makeMessageId } from '@wagate/shared/ids'
import type { Client } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'

async function read(client: Client, query: Record<string, string> = {}) {
  const { status, body } = await client.get('/messages', query)
  expect(status).toBe(200)
  return {
    texts: (body.messages as { message: string }[]).map(({ message }) => message),
    messages: body.messages as Record<string, unknown>[],
    hasMore: body.has_more,
  }
}

/** Inserts `count` messages into the table, all with the time `at` if given. */
async function insertMessages(
  { account, deviceId, sender }: Awaited<ReturnType<typeof createSender>>,
  count: number,
  at?: string,
) {
  const rows = Array.from({ length: count }, (_, n) => ({
    id: makeMessageId('4915100000000'),
    body: `text ${n}`,
  }))
  await gateway.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation, created_at)
    SELECT given.id, ${account.userId}, ${deviceId}, 'out', 'text', ${sender}, ${number}, given.body, 'queued', 'x', 1,
      coalesce(${at ?? null}::timestamptz, now() - (${count} - given.position) * interval '1 ms')
    FROM unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ body }) => body)}::text[])
      WITH ORDINALITY AS given (id, body, position)`
  return rows
}

test('a message object has all its fields', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  const sent = await account.post('/send-message', { sender, number, message: 'Hello' })
  await gateway.db.$client`
    UPDATE messages SET status = 'failed', error = 'Not there.', error_code = 'recipient_not_on_whatsapp',
      sent_at = '2026-01-02T03:04:05.678Z'
    WHERE id = ${String(sent.body.message_id)}`
  const { messages, hasMore } = await read(account)
  expect(hasMore).toBe(false)
  expect(messages).toEqual([
    {
      message_id: sent.body.message_id,
      device_id: deviceId,
      sender,
      number,
      lid: null,
      username: null,
      direction: 'out',
      type: 'text',
      message: 'Hello',
      caption: null,
      url: null,
      filename: null,
      status: 'failed',
      error: 'Not there.',
      error_code: 'recipient_not_on_whatsapp',
      wa_message_id: expect.stringMatching(/^3EB0/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      send_at: null,
      sent_at: '2026-01-02T03:04:05.678Z',
      delivered_at: null,
      read_at: null,
      played_at: null,
      written_at: null,
      push_name: null,
      source: 'gateway',
      unavailable: null,
      reference: null,
      priority: 'normal',
      expires_at: null,
      waiting_for: null,
      waiting_until: null,
      media: null,
      content: null,
      reply_to: null,
      edited_at: null,
      deleted_at: null,
    },
  ])
})

test.each([
  ['a number', number, null, { number, lid: null }],
  ['a number and a LID', number, '1000000000000017@lid', { number, lid: '1000000000000017' }],
  ['a LID alone', '', '1000000000000017@lid', { number: null, lid: '1000000000000017' }],
  ['another kind of account', '', '867051314767696@bot', { number: null, lid: null }],
])('a message shows the addresses of its contact: %s', async (_, storedNumber, contactJid, shown) => {
  const device = await createSender(gateway)
  await insertMessages(device, 1)
  await gateway.db.$client`
    UPDATE messages SET direction = 'in', status = 'received', number = ${storedNumber}, recipient_jid = ${contactJid}
    WHERE device_id = ${device.deviceId}`
  expect((await read(device.account)).messages).toMatchObject([shown])
})

test('a message object shows the name of a document, and when it is to be sent', async () => {
  const { account, sender } = await createSender(gateway)
  const document = {
    sender,
    number,
    type: 'document',
    url: 'https://files.example.com/1.pdf',
    filename: 'order 1.pdf',
    send_at: new Date(Date.now() + 3_600_000).toISOString(),
  }
  expect((await account.post('/send-media', document)).status).toBe(200)
  const { filename, send_at } = document
  expect((await read(account)).messages).toMatchObject([{ status: 'scheduled', filename, send_at }])
})

test('an empty history is an empty list', async () => {
  const account = await gateway.createAccount()
  expect(await read(account)).toEqual({ texts: [], messages: [], hasMore: false })
})

test('returns the last 200 messages, newest first', async () => {
  const device = await createSender(gateway)
  await insertMessages(device, 250)
  const { texts, hasMore } = await read(device.account)
  expect(texts).toEqual(Array.from({ length: 200 }, (_, n) => `text ${249 - n}`))
  expect(hasMore).toBe(true)
})

describe('pages', () => {
  test.each([
    ['of different moments', undefined],
    ['of one moment', new Date().toISOString()],
  ])('contain every message once: %s', async (_, at) => {
    const device = await createSender(gateway)
    const rows = await insertMessages(device, 45, at)
    const seen: string[] = []
    let before: Record<string, string> = {}
    for (let page = 0; page < 6; page++) {
      const { messages, hasMore } = await read(device.account, { limit: '10', ...before })
      seen.push(...messages.map(({ message_id }) => String(message_id)))
      expect(hasMore).toBe(page < 4)
      expect(messages.length).toBe([10, 10, 10, 10, 5, 0][page])
      before = { before: seen.at(-1) ?? '' }
    }
    expect(new Set(seen)).toEqual(new Set(rows.map(({ id }) => id)))
    expect(seen).toHaveLength(45)
  })

  test('are stable while new messages arrive', async () => {
    const device = await createSender(gateway)
    await insertMessages(device, 5)
    const { messages } = await read(device.account, { limit: '2' })
    await device.account.post('/send-message', { sender: device.sender, number, message: 'new' })
    const next = await read(device.account, { limit: '2', before: String(messages[1]?.message_id) })
    expect(next.texts).toEqual(['text 2', 'text 1'])
  })

  test('cannot begin at an unknown message or one of another account', async () => {
    const [one, other] = [await createSender(gateway), await createSender(gateway)]
    const [foreign] = await insertMessages(other, 1)
    for (const before of [
      makeMessageId('4915100000000'),
      String(foreign?.id),
      'ffffffff-ffff-7fff-bfff-ffffffffffff',
    ]) {
      expect(await one.account.get('/messages', { before })).toMatchObject({
        status: 404,
        body: { code: 'message_not_found' },
      })
    }
  })
})

test('filters by sender, number and status', async () => {
  const { account, sender } = await createSender(gateway)
  const other = await account.post('/create-device', { sender: '4915177777777' })
  await gateway.db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1
    WHERE id = ${Number(other.body.device_id)}`
  const send = async (given: Record<string, unknown>) =>
    expect((await account.post('/send-message', { sender, number, ...given })).status).toBe(200)
  await send({ message: 'one' })
  await send({ message: 'two', number: '4915188888888' })
  await send({ message: 'three', sender: '4915177777777' })
  await send({ message: 'four', send_at: new Date(Date.now() + 3_600_000).toISOString() })
  await gateway.db.$client`UPDATE messages SET status = 'sent' WHERE body = 'one'`

  expect((await read(account, { sender: '4915177777777' })).texts).toEqual(['three'])
  expect((await read(account, { number: '+49 151 8888 8888' })).texts).toEqual(['two'])
  expect((await read(account, { status: 'sent' })).texts).toEqual(['one'])
  expect((await read(account, { status: 'queued' })).texts).toEqual(['three', 'two'])
  expect((await read(account, { status: 'scheduled' })).texts).toEqual(['four'])
  expect((await read(account, { sender, status: 'queued', number: '4915188888888' })).texts).toEqual(['two'])
  expect((await read(account, { number: '4915100000000' })).texts).toEqual([])
})

test('messages of another account are never returned', async () => {
  const [one, other] = [await createSender(gateway), await createSender(gateway)]
  await one.account.post('/send-message', { sender: one.sender, number, message: 'mine' })
  await other.account.post('/send-message', { sender: other.sender, number, message: 'theirs' })
  expect((await read(one.account)).texts).toEqual(['mine'])
  expect((await read(one.account, { sender: other.sender })).texts).toEqual([])
  expect((await read(one.account, { number })).texts).toEqual(['mine'])
})

test.each([
  { limit: '0' },
  { limit: '201' },
  { limit: ' ' },
  { limit: 'all' },
  { before: 'x' },
  { before: '1' },
  { sender: 'x' },
  { number: '1' },
  { status: 'lost' },
  { status: ' ' },
])('refuses %j', async (query) => {
  expect(await gateway.admin.get('/messages', query as unknown as Record<string, string>)).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter', details: [{ parameter: Object.keys(query)[0] }] },
  })
})
