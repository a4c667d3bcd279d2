import { formatEventId } from '@wagate/shared/event-ids'
import type { Client } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'

type Event = { event_id: string; type: string; device_id: number; data: Record<string, unknown> }

async function read(client: Client, query: Record<string, string> = {}) {
  const { status, body } = await client.get('/events', query)
  expect(status).toBe(200)
  return { events: body.events as Event[], next: String(body.next), hasMore: body.has_more }
}

/** An event is readable when all transactions of the server that began earlier have ended. */
async function readUntil(client: Client, count: number, query: Record<string, string> = {}) {
  await expect.poll(async () => (await read(client, query)).events.length, { timeout: 10_000 }).toBe(count)
  return read(client, query)
}

async function send(account: Client, sender: string, message = 'Hello') {
  const sent = await account.post('/send-message', { sender, number, message })
  expect(sent.body.ok).toBe(true)
  return String(sent.body.message_id)
}

test('an event has all its fields, and the message as it is now', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  const messageId = await send(account, sender)
  const { events, hasMore } = await readUntil(account, 1)
  const { body: message } = await account.get('/message-status', { message_id: messageId })
  // What it waits for is of the moment.
  const { ok: _, timeline: __, waiting_for: ___, waiting_until: ____, ...fields } = message
  expect(hasMore).toBe(false)
  expect(events).toEqual([
    {
      event_id: expect.stringMatching(/^evt_[0-9a-f]{40}$/),
      type: 'message.accepted',
      version: 1,
      timestamp: fields.created_at,
      recorded_at: fields.created_at,
      device_id: deviceId,
      data: { message_id: messageId, message: fields },
    },
  ])
})

test('a program that follows `next` gets every event once, in order', async () => {
  const { account, sender } = await createSender(gateway)
  const sent: string[] = []
  for (let count = 0; count < 5; count++) sent.push(await send(account, sender))
  await readUntil(account, 5)
  const got: unknown[] = []
  let next = ''
  for (let hasMore: unknown = true; hasMore; ) {
    const page = await read(account, { limit: '2', ...(next && { after: next }) })
    got.push(...page.events.map(({ data }) => data.message_id))
    next = page.next
    hasMore = page.hasMore
  }
  expect(got).toEqual(sent)
  const later = await send(account, sender)
  const { events } = await readUntil(account, 1, { after: next })
  expect(events[0]?.data.message_id).toBe(later)
})

test('events are filtered by type and device', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  await account.post('/cancel-message', { message_id: await send(account, sender) })
  await readUntil(account, 2)
  expect((await read(account, { types: 'message.canceled' })).events).toHaveLength(1)
  expect((await read(account, { types: 'message.canceled,message.accepted' })).events).toHaveLength(2)
  expect((await read(account, { types: 'message.read' })).events).toEqual([])
  expect((await read(account, { device_id: String(deviceId) })).events).toHaveLength(2)
  expect((await read(account, { device_id: String(deviceId + 1) })).events).toEqual([])
})

test('an account reads its own events only, also with the cursor of another', async () => {
  const one = await createSender(gateway)
  const other = await createSender(gateway)
  const { next } = await read(one.account)
  await send(one.account, one.sender)
  await readUntil(one.account, 1)
  expect((await read(other.account)).events).toEqual([])
  expect((await read(other.account, { after: next })).events).toEqual([])
})

test('`latest` leaves out what has happened, and `wait` holds the answer until something happens', async () => {
  const { account, sender } = await createSender(gateway)
  await send(account, sender)
  await readUntil(account, 1)
  const { events, next } = await read(account, { after: 'latest' })
  expect(events).toEqual([])
  const waiting = read(account, { after: next, wait: '20' })
  const messageId = await send(account, sender)
  expect((await waiting).events.map(({ data }) => data.message_id)).toEqual([messageId])
})

test('a wait without an event ends in time with a cursor', async () => {
  const { account } = await createSender(gateway)
  const { next } = await read(account)
  const startedAt = performance.now()
  const page = await read(account, { after: next, wait: '1' })
  expect(performance.now() - startedAt).toBeGreaterThan(900)
  expect(page).toMatchObject({ events: [], hasMore: false })
  expect(page.next >= next).toBe(true)
})

test('a cursor whose next events may be deleted is refused', async () => {
  const { account } = await createSender(gateway)
  const seconds = Math.floor(Date.now() / 1000) - 60 * 86_400
  const after = formatEventId({ epoch: 1, tx: '1', id: '1', seconds })
  expect(await account.get('/events', { after })).toMatchObject({
    status: 410,
    body: { code: 'cursor_expired' },
  })
})

test.each([
  ['after', 'evt_1'],
  ['after', ' '],
  ['types', 'message.gone'],
  ['types', ','],
  ['limit', '101'],
  ['wait', '26'],
])('refuses %s=%j', async (name, value) => {
  const { account } = await createSender(gateway)
  const { status, body } = await account.get('/events', { [name]: value })
  expect(status).toBe(400)
  expect(String(body.error)).toContain(name)
})
