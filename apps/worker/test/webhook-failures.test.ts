import { createServer } from 'node:net'
import { insertTestEvent, replayEvents } from '@wagate/db/queries/webhooks/webhook-deliveries'
import { findWebhook } from '@wagate/db/queries/webhooks/webhooks'
import { makeHostNames } from '@wagate/runtime/host-names'
import { parseEventId } from '@wagate/shared/event-ids'
import { startDnsServer } from '@wagate/test-kit/dns-server'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openWebhookDatabase, type WebhookDatabase } from './webhook-database.ts'
import { openWebhookTarget, type WebhookTarget } from './webhook-target.ts'

let database: WebhookDatabase
let target: WebhookTarget
let accountId: number
let webhookId: number

beforeAll(async () => {
  database = await openWebhookDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  target = await openWebhookTarget()
  accountId = await database.addAccount()
  webhookId = (await database.addWebhook(accountId, { url: target.url })).id
})
afterEach(async () => {
  await database.stopAll()
  await database.sql`DELETE FROM webhooks`
  target.close()
})

type Attempt = { attempt: number; status: number | null; error: string | null; answer: string | null }

const listAttempts = async (): Promise<Attempt[]> => [
  ...(await database.sql<Attempt[]>`
    SELECT attempt, status, error, answer FROM webhook_attempts WHERE webhook_id = ${webhookId} ORDER BY number`),
]
const untilAttempts = (count: number) =>
  until(`${count} attempts`, async () => {
    const attempts = await listAttempts()
    return attempts.length >= count && attempts
  })
const read = async () => (await findWebhook(database.db, accountId, webhookId)) ?? expect.fail('no webhook')
const untilReceived = (...eventIds: string[]) =>
  until('the events to be delivered', () => eventIds.every((id) => target.eventIds().includes(id)))

test('a target that switches protocols has failed, and stops neither later events nor the dispatcher', async () => {
  target.answer = (request) =>
    request.socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
  await database.addEvent(accountId)
  database.start({ limits: { retryDelaysMs: [20] } })
  const [first] = await untilAttempts(2)
  expect(first).toMatchObject({ status: null, error: 'EPROTO' })
  target.answer = (_, response) => response.end('thanks')
  await untilReceived(await database.addEvent(accountId))
})

test('a failed request is repeated with the same id and body, and blocks no later event', async () => {
  const failing = await database.addEvent(accountId)
  let failures = 0
  target.answer = (request, response) => {
    const fails = request.headers['webhook-id'] === failing && failures++ < 2
    response.writeHead(fails ? 500 : 200).end(fails ? 'broken' : 'thanks')
  }
  database.start({ limits: { retryDelaysMs: [500, 20, 20] } })
  await untilAttempts(1)
  const later = await database.addEvent(accountId)
  await untilReceived(later)
  await until('the last attempt', () => target.requests.length === 4)
  const [first, ...repeats] = target.requests.filter(({ headers }) => headers['webhook-id'] === failing)
  expect(repeats).toHaveLength(2)
  for (const { body } of repeats) expect(body).toBe(first?.body)
  await until('nothing to wait', async () => (await read()).waiting === 0)
  const attempts = (await listAttempts()).filter(({ status }) => status === 500)
  expect(attempts).toEqual([1, 2].map((attempt) => ({ attempt, status: 500, error: null, answer: 'broken' })))
  expect(await read()).toMatchObject({ failingSince: null, failed: 0 })
})

test('a delivery whose last attempt failed is kept for the account to replay', async () => {
  target.answer = (_, response) => response.writeHead(500).end()
  const eventId = await database.addEvent(accountId)
  database.start()
  await until('the last failure', async () => (await read()).failed === 1)
  expect(target.requests).toHaveLength(4)
  expect(await read()).toMatchObject({ waiting: 0, disabledAt: null })
  target.answer = (_, response) => response.end()
  const position = parseEventId(eventId)
  await database.db.transaction((tx) => replayEvents(tx, accountId, webhookId, position ? [position] : []))
  await until('the replay', () => target.requests.length === 5)
  expect(target.requests[4]?.headers['webhook-id']).toBe(eventId)
})

test('410 disables the webhook at once, tells the account, and loses no event', async () => {
  target.answer = (_, response) => response.writeHead(410).end()
  const eventId = await database.addEvent(accountId)
  database.start()
  await until('it to be disabled', async () => (await read()).disabledReason === 'gone')
  const events = await database.sql`
    SELECT data FROM events WHERE account_id = ${accountId} AND type = 50`
  expect([...events]).toEqual([{ data: { webhook_id: webhookId, reason: 'gone' } }])
  expect(target.requests).toHaveLength(1)
  target.answer = (_, response) => response.end()
  await database.sql`UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL WHERE id = ${webhookId}`
  await until('the same event', () => target.requests.length >= 2)
  expect(target.requests[1]?.headers['webhook-id']).toBe(eventId)
})

test('a target that has only failed for too long is disabled', async () => {
  target.answer = (_, response) => response.writeHead(500).end()
  await database.addEvent(accountId)
  database.start({ limits: { failingMsMax: 300 } })
  await until('it to be disabled', async () => {
    await database.addEvent(accountId)
    return (await read()).disabledReason === 'failing'
  })
})

test('a redirect is a failure and is not followed', async () => {
  const other = await openWebhookTarget()
  target.answer = (_, response) => response.writeHead(302, { location: other.url }).end()
  await database.addEvent(accountId)
  database.start()
  const [attempt] = await untilAttempts(1)
  expect(attempt).toMatchObject({ status: 302, attempt: 1 })
  expect(await read()).not.toMatchObject({ failingSince: null })
  expect(other.requests).toEqual([])
  other.close()
})

test('a target that does not answer fails after the deadline, and delays no other webhook', async () => {
  const healthy = await openWebhookTarget()
  await database.addWebhook(accountId, { url: healthy.url })
  target.answer = () => undefined
  const eventId = await database.addEvent(accountId)
  database.start({ limits: { requestMs: 5000 } })
  await until('the request that hangs', () => target.requests.length === 1)
  const later = await database.addEvent(accountId)
  await until('the healthy target', () => [eventId, later].every((id) => healthy.eventIds().includes(id)))
  expect(await listAttempts()).toEqual([])
  const [attempt] = await untilAttempts(1)
  expect(attempt).toMatchObject({ status: null, error: 'timeout' })
  healthy.close()
})

test('a connection that ends before the response is a failure', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 200'))).listen(0)
  const { port } = server.address() as { port: number }
  await database.sql`UPDATE webhooks SET url = ${`http://127.0.0.1:${port}`} WHERE id = ${webhookId}`
  await database.addEvent(accountId)
  database.start()
  const [attempt] = await untilAttempts(1)
  expect(attempt).toMatchObject({ status: null, error: expect.stringMatching(/^(HPE_|ECONNRESET)/) })
  server.close()
})

test('of an endless answer, the beginning is read', async () => {
  target.answer = (_, response) => {
    response.writeHead(200)
    const write = () => response.writable && response.write('x'.repeat(10_000), () => setImmediate(write))
    write()
  }
  await database.addEvent(accountId)
  database.start({ limits: { requestMs: 20_000 } })
  expect(await untilAttempts(1)).toEqual([{ attempt: 1, status: 200, error: null, answer: 'x'.repeat(1024) }])
})

test('a private address is refused, also when a name leads to it, which then is like a missing one', async () => {
  await database.addEvent(accountId)
  const named = await database.addWebhook(accountId, { url: `http://example.com:${target.port}/` })
  const missing = await database.addWebhook(accountId, { url: `http://missing.example:${target.port}/` })
  const dns = await startDnsServer((name) => (name === 'example.com' ? ['127.0.0.1'] : 'missing'))
  database.start({ allowsPrivateHosts: false, hostNames: makeHostNames({ servers: [dns.address] }) })
  const errors = { [webhookId]: 'forbidden_address', [named.id]: 'ENOTFOUND', [missing.id]: 'ENOTFOUND' }
  for (const [id, error] of Object.entries(errors)) {
    webhookId = Number(id)
    expect((await untilAttempts(1))[0]).toMatchObject({ status: null, error })
  }
  expect(target.requests).toEqual([])
  dns.close()
})

test('a test is delivered whatever the webhook wants, and to no other webhook', async () => {
  const other = await openWebhookTarget()
  await database.addWebhook(accountId, { url: other.url })
  await database.sql`UPDATE webhooks SET types = '{1}' WHERE id = ${webhookId}`
  await database.db.transaction((tx) => insertTestEvent(tx, accountId, webhookId))
  database.start()
  await until('the test', () => target.requests.length === 1)
  expect(JSON.parse(target.requests[0]?.body ?? '')).toMatchObject({ type: 'webhook.test' })
  const later = await database.addEvent(accountId)
  await until('a later event', () => other.eventIds().includes(later))
  expect(other.requests).toHaveLength(1)
  other.close()
})

test('with too many deliveries that wait, the position stays until there is room', async () => {
  target.answer = (_, response) => response.writeHead(500).end()
  await database.addEvent(accountId)
  database.start({ limits: { waitingMax: 1, retryDelaysMs: Array(1000).fill(50) } })
  await until('the backlog to be full', async () => (await read()).backlogFullSince !== null)
  const later = await database.addEvent(accountId)
  await untilAttempts(10)
  expect(target.eventIds()).not.toContain(later)
  target.answer = (_, response) => response.end()
  await untilReceived(later)
  await until('room', async () => (await read()).backlogFullSince === null)
})

test('a target that asks for a pause gets no further requests, and no event is lost', async () => {
  for (let count = 0; count < 30; count++) await database.addEvent(accountId, { deviceId: count })
  target.answer = (_, response) => response.writeHead(503, { 'retry-after': '3600' }).end()
  database.start()
  await untilAttempts(1)
  await database.stopAll()
  // As many are in flight at a time.
  expect(target.requests.length).toBeLessThanOrEqual(4)
  target.answer = (_, response) => response.end()
  await database.sql`UPDATE webhook_deliveries SET next_attempt_at = now()`
  const before = target.requests.length
  database.start()
  await until('all events', () => target.eventIds().length === 30)
  expect(target.requests.length).toBe(before + 30)
})
