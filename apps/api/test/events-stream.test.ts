import { once } from 'node:events'
import { connect } from 'node:net'
import type { Client } from '@wagate/test-kit/http-client'
import { startTcpProxy } from '@wagate/test-kit/tcp-proxy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, startReplica } from './gateway.ts'
import { openStream } from './stream-client.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'
const wait = { timeout: 15_000 }

async function send(account: Client, sender: string, message = 'Hello') {
  const { body } = await account.post('/send-message', { sender, number, message })
  return String(body.message_id)
}

const keyOf = (apiKey: string) => ({ 'x-api-key': apiKey })
const stream = (apiKey: string, query = '', headers = {}, url = gateway.url) =>
  openStream(`${url}/events/stream?${query}`, { ...keyOf(apiKey), ...headers })

async function readAll(account: Client) {
  const { body } = await account.get('/events')
  return body.events as { event_id: string; type: string }[]
}

test('streams the events that `events` returns, under their ids and types', async () => {
  const { account, sender } = await createSender(gateway)
  const { body: first } = await account.get('/events')
  const client = await stream(account.apiKey, `after=${first.next}`)
  expect(client.status).toBe(200)
  expect(client.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(client.headers.get('content-encoding')).toBeNull()
  await account.post('/cancel-message', { message_id: await send(account, sender) })
  await expect.poll(() => client.events.length, wait).toBe(2)
  const later = await readAll(account)
  expect(client.events.map(({ id, type }) => ({ id, type }))).toEqual(
    later.map(({ event_id, type }) => ({ id: event_id, type })),
  )
  expect(client.events.at(-1)?.data).toEqual(later.at(-1))
  client.close()
})

test('a filter leaves events out, and without a cursor only new events come', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  await send(account, sender)
  await expect.poll(async () => (await readAll(account)).length, wait).toBe(1)
  const canceled = await stream(account.apiKey, `types=message.canceled&device_id=${deviceId}`)
  const other = await stream(account.apiKey, `device_id=${deviceId + 1}`)
  const all = await stream(account.apiKey)
  await account.post('/cancel-message', { message_id: await send(account, sender) })
  await expect
    .poll(() => all.events.map(({ type }) => type), wait)
    .toEqual(['message.accepted', 'message.canceled'])
  await expect.poll(() => canceled.events.map(({ type }) => type), wait).toEqual(['message.canceled'])
  expect(other.events).toEqual([])
  for (const client of [canceled, other, all]) client.close()
})

test('streams of different accounts show their own events only', async () => {
  const one = await createSender(gateway)
  const other = await createSender(gateway)
  const ofOne = await stream(one.account.apiKey)
  const ofOther = await stream(other.account.apiKey)
  const messageIds = [await send(one.account, one.sender), await send(other.account, other.sender)]
  await expect.poll(() => ofOne.events.length + ofOther.events.length, wait).toBe(2)
  expect(ofOne.events[0]?.data).toMatchObject({ data: { message_id: messageIds[0] } })
  expect(ofOther.events[0]?.data).toMatchObject({ data: { message_id: messageIds[1] } })
  ofOne.close()
  ofOther.close()
})

test('a client that resumes after a restart of the API gets every event once', async () => {
  const { account, sender } = await createSender(gateway)
  const sent: string[] = []
  const got: unknown[] = []
  const note = ({ events }: { events: { data: Record<string, unknown> }[] }) =>
    got.push(...events.map(({ data }) => (data.data as Record<string, unknown>).message_id))
  let replica = await startReplica(gateway)
  let client = await stream(account.apiKey, 'after=latest', {}, replica.url)
  for (let restart = 0; restart < 3; restart++) {
    for (let count = 0; count < 5; count++) sent.push(await send(account, sender))
    // The second process is closed while events wait to be read.
    const atLeast = restart === 1 ? 2 : 5
    await expect.poll(() => client.events.length, wait).toBeGreaterThanOrEqual(atLeast)
    const closed = replica.close()
    await Promise.all([client.ended, closed])
    note(client)
    sent.push(await send(account, sender))
    replica = await startReplica(gateway)
    const lastEventId = client.lastEventId() ?? ''
    client = await stream(account.apiKey, 'after=latest', { 'last-event-id': lastEventId }, replica.url)
  }
  await expect.poll(() => got.length + client.events.length, wait).toBe(sent.length)
  note(client)
  expect(got).toEqual(sent)
  client.close()
  await replica.close()
}, 60_000)

test('many streams of one account share the statements that read new events', async () => {
  const { account, sender } = await createSender(gateway)
  let requests = 0
  const postgres = await startTcpProxy(gateway.databaseUrl, {
    hold(_chunk, { isAnswer }) {
      if (!isAnswer) requests += 1
      return undefined
    },
  })
  const replica = await startReplica({ ...gateway, databaseUrl: postgres.url })
  const open = () => stream(account.apiKey, '', {}, replica.url)
  const clients = await Promise.all(Array.from({ length: 200 }, open))
  await send(account, sender)
  await expect.poll(() => clients.every(({ events }) => events.length === 1), wait).toBe(true)
  const before = requests
  for (let count = 0; count < 5; count++) await send(account, sender)
  await expect.poll(() => clients.every(({ events }) => events.length === 6), wait).toBe(true)
  // One read of each stream after each notice would be more than 400.
  expect(requests - before).toBeLessThan(100)
  for (const client of clients) client.close()
  await replica.close()
  await postgres.close()
}, 60_000)

test('a client that does not read is disconnected, and gets the rest when it resumes', async () => {
  const { account, sender } = await createSender(gateway)
  const slow = await openIdleSocket(`/events/stream?after=latest`, account.apiKey)
  const reader = await stream(account.apiKey, 'after=latest')
  const messageId = await send(account, sender, 'x'.repeat(4000))
  // More than the buffers of the operating system hold.
  const eventsTotal = 6000
  await gateway.db.$client`
    INSERT INTO events (account_id, type, message_id)
    SELECT ${account.userId}, 2, ${messageId} FROM generate_series(2, ${eventsTotal})`
  await expect.poll(() => reader.events.length, { timeout: 60_000 }).toBe(eventsTotal)
  const text = await slow.readToEnd()
  const received = [...text.matchAll(/^id: (\w+)\nevent: .*\ndata: .*\n$/gm)].map(([, id]) => id)
  expect(received.length).toBeLessThan(eventsTotal)
  const rest = await stream(account.apiKey, '', { 'last-event-id': received.at(-1) ?? '' })
  await expect.poll(() => received.length + rest.events.length, { timeout: 60_000 }).toBe(eventsTotal)
  expect([...received, ...rest.events.map(({ id }) => id)]).toEqual(reader.events.map(({ id }) => id))
  reader.close()
  rest.close()
}, 120_000)

/** Sends a request, and reads nothing but the beginning of the response. */
async function openIdleSocket(path: string, apiKey: string) {
  const { port, hostname } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nx-api-key: ${apiKey}\r\n\r\n`)
  await once(socket, 'readable')
  return {
    async readToEnd() {
      const chunks: Buffer[] = []
      socket.on('data', (chunk) => chunks.push(chunk))
      await once(socket, 'close')
      return Buffer.concat(chunks)
        .toString()
        .replaceAll(/\r\n[0-9a-f]+\r\n/g, '')
    },
  }
}

describe('a stream ends', () => {
  test('when its key is revoked', async () => {
    const { account } = await createSender(gateway)
    const { body: key } = await account.post('/create-key', {})
    const client = await stream(String(key.api_key))
    await account.post('/revoke-key', { key_id: key.key_id })
    await client.ended
  })

  test('when its key expires', async () => {
    const { account } = await createSender(gateway)
    const expiry = new Date(Date.now() + 1500).toISOString()
    const { body: key } = await account.post('/create-key', { expiry })
    const client = await stream(String(key.api_key))
    expect(client.status).toBe(200)
    await client.ended
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiry))
  })
})

test.each([
  ['a key', '', {}, 401, 'missing_api_key'],
  ['a known cursor', 'after=evt_1', undefined, 400, 'invalid_parameter'],
  ['a known Last-Event-ID', '', { 'last-event-id': '17' }, 400, 'invalid_parameter'],
  ['a known type', 'types=message.gone', undefined, 400, 'invalid_parameter'],
])('without %s, the answer is an ordinary failure', async (_, query, headers, status, code) => {
  const { account } = await createSender(gateway)
  const given = code === 'missing_api_key' ? {} : { ...keyOf(account.apiKey), ...headers }
  const response = await fetch(`${gateway.url}/events/stream?${query}`, { headers: given })
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ ok: false, code })
})

test('HEAD opens no stream', async () => {
  const { account } = await createSender(gateway)
  const answer = await fetch(`${gateway.url}/api/events/stream/`, {
    method: 'HEAD',
    headers: keyOf(account.apiKey),
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(await answer.text()).toBe('')
})
