import { firstPosition, formatEventId } from '@wagate/shared/event-ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeEventStreams } from '../src/event-streams/event-streams.ts'
import { makeEventFeed } from '../src/events/event-feed.ts'
import { createSender, type Gateway, startGatewayWithOwner, startReplica } from './gateway.ts'
import { openStream } from './stream-client.ts'

let gateway: Gateway
let replica: Awaited<ReturnType<typeof startReplica>>
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
  replica = await startReplica(gateway, { ALLOW_QUERY_API_KEY: 'false' })
})
afterAll(async () => {
  await replica.close()
  await gateway.close()
})

const wait = { timeout: 15_000 }
const number = '4915199999999'

async function createToken(fields: Record<string, unknown> = {}) {
  const { account, sender, deviceId } = await createSender(gateway)
  const { status, body } = await account.post('/create-stream-token', fields)
  expect(status).toBe(200)
  return { account, sender, deviceId, token: String(body.token) }
}

const streamWith = (token: string, query = '', url = replica.url) =>
  openStream(`${url}/events/stream?token=${token}&${query}`)

async function refusalOf(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers })
  const { code } = (await response.json()) as { code: string }
  return `${response.status} ${code}`
}

test('any API process accepts a token, and shows the events of its account', async () => {
  const { account, sender, token } = await createToken()
  const client = await streamWith(token)
  expect(client.status).toBe(200)
  const { body } = await account.post('/send-message', { sender, number, message: 'Hello' })
  await expect
    .poll(() => client.events.map(({ data }) => data.data), wait)
    .toMatchObject([{ message_id: body.message_id }])
  client.close()
})

test('a token shows no more than what it was created for', async () => {
  const { account, sender, token } = await createToken({ types: 'message.canceled' })
  const client = await streamWith(token)
  const { body } = await account.post('/send-message', { sender, number, message: 'Hello' })
  await account.post('/cancel-message', { message_id: body.message_id })
  await expect.poll(() => client.events.map(({ type }) => type), wait).toEqual(['message.canceled'])
  client.close()
  const stream = `${replica.url}/events/stream?token=${token}`
  expect(await refusalOf(`${stream}&types=message.accepted`)).toBe('403 credential_not_allowed')
})

test('a token opens nothing but the stream, and only as `token`', async () => {
  const { account, token } = await createToken()
  const { url } = gateway
  for (const operation of ['events', 'messages', 'user-info', 'create-stream-token']) {
    expect(await refusalOf(`${url}/${operation}`, { 'x-api-key': token })).toBe('403 credential_not_allowed')
    expect(await refusalOf(`${url}/${operation}?token=${token}`)).toBe('401 missing_api_key')
  }
  const stream = `${url}/events/stream?token=`
  expect(await refusalOf(`${stream}${account.apiKey}`)).toBe('401 invalid_api_key')
  expect(await refusalOf(`${stream}${token.slice(0, -1)}`)).toBe('401 invalid_api_key')
})

test('a stream ends when its token expires, and the token opens none', async () => {
  const { account, token } = await createToken()
  const client = await streamWith(token)
  expect(client.status).toBe(200)
  await gateway.db.$client`UPDATE stream_tokens SET expires_at = now() WHERE account_id = ${account.userId}`
  await client.ended
  expect(await refusalOf(`${replica.url}/events/stream?token=${token}`)).toBe('401 expired_api_key')
})

test('revoking the key that created a token ends its streams, and the token opens none', async () => {
  const { account } = await createSender(gateway)
  const { body: key } = await account.post('/create-key', {})
  const { body } = await account.post('/create-stream-token', {}, { 'x-api-key': String(key.api_key) })
  const client = await streamWith(String(body.token))
  expect(client.status).toBe(200)
  await account.post('/revoke-key', { key_id: key.key_id })
  await client.ended
  expect(await refusalOf(`${replica.url}/events/stream?token=${body.token}`)).toBe('401 invalid_api_key')
})

test('a token of a device of another account is refused', async () => {
  const { deviceId } = await createSender(gateway)
  const { account } = await createSender(gateway)
  expect(await account.post('/create-stream-token', { device_id: deviceId })).toMatchObject({
    status: 404,
    body: { code: 'device_not_found' },
  })
})

test('a token shows nothing from before its creation, unless it was created with a cursor', async () => {
  const { account, sender } = await createSender(gateway)
  const { body: start } = await account.get('/events', { after: 'latest' })
  const send = (message: string) => account.post('/send-message', { sender, number, message })
  const { body: sent } = await send('Before')
  const create = async (fields = {}) =>
    String((await account.post('/create-stream-token', fields)).body.token)
  const token = await create()
  const stream = `${replica.url}/events/stream?token=${token}`
  const early = String(start.next)
  expect(await refusalOf(`${stream}&after=${early}`)).toBe('403 credential_not_allowed')
  expect(await refusalOf(stream, { 'last-event-id': early })).toBe('403 credential_not_allowed')

  const client = await streamWith(await create({ after: early }), `after=${early}`)
  await expect
    .poll(() => client.events.map(({ data }) => data.data), wait)
    .toMatchObject([{ message_id: sent.message_id }])
  client.close()
  const lastId = String(client.lastEventId())
  expect((await streamWith(await create({ after: lastId }), `after=${lastId}`)).status).toBe(200)
  expect(await account.post('/create-stream-token', { after: 'evt_1' })).toMatchObject({ status: 400 })
})

test('a token of an earlier version continues from any cursor', async () => {
  const { account, token } = await createToken()
  await gateway.db.$client`UPDATE stream_tokens SET after = NULL WHERE account_id = ${account.userId}`
  const client = await streamWith(token, `after=${formatEventId(firstPosition)}`)
  expect(client.status).toBe(200)
  client.close()
})

test('a heartbeat comes without events, with a cursor that moves on', async () => {
  const closing = new AbortController()
  const feed = makeEventFeed(gateway.db, { onEvents: () => async () => undefined })
  const streams = makeEventStreams(feed, {
    getLinker: async () => () => '',
    closing: closing.signal,
    heartbeatMs: 20,
    onError: () => undefined,
  })
  const after = await feed.start('latest')
  const connection = { hangUp: () => undefined, isAdmitted: async () => true }
  const readable = streams.open(2_000_000_000, { after, filter: {}, connection })
  const cursors = new Set<string>()
  for await (const chunk of readable) {
    const cursor = /^: heartbeat\nid: (evt_\w+)\n\n$/.exec(new TextDecoder().decode(chunk))?.[1]
    if (cursor) cursors.add(cursor)
    // Other transactions of the server move it.
    if (cursors.size === 1) await gateway.db.$client`SELECT pg_current_xact_id()`
    if (cursors.size === 2) closing.abort()
  }
  const [first = '', second = ''] = cursors
  expect(second > first).toBe(true)
})
