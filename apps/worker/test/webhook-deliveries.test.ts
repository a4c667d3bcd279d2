import { randomUUID } from 'node:crypto'
import { rotateWebhookSecret } from '@wagate/db/queries/webhooks/webhooks'
import { eventTypes } from '@wagate/shared/event-types'
import { makeMessageId } from '@wagate/shared/ids'
import { makeWebhookSecret } from '@wagate/shared/webhook-signature'
import { until } from '@wagate/test-kit/until'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openWebhookDatabase, sealSecret, type WebhookDatabase } from './webhook-database.ts'
import { openWebhookTarget, type WebhookTarget } from './webhook-target.ts'

let database: WebhookDatabase
let target: WebhookTarget
let accountId: number

beforeAll(async () => {
  database = await openWebhookDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  target = await openWebhookTarget()
  accountId = await database.addAccount()
})
afterEach(async () => {
  await database.stopAll()
  await database.sql`DELETE FROM webhooks`
  target.close()
})

const untilReceived = (eventIds: string[]) =>
  until('the events to be delivered', () => eventIds.every((id) => target.eventIds().includes(id)))

/** Throws unless the independent implementation accepts the signature. */
function verify(secret: string, index = 0): void {
  const request = target.requests[index]
  new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>)
}

test('delivers an event as the stream has it, signed, with its id', async () => {
  const { secret } = await database.addWebhook(accountId, { url: target.url })
  const eventId = await database.addEvent(accountId, { deviceId: 7 })
  database.start()
  await untilReceived([eventId])
  const { headers, body } = target.requests[0] ?? { headers: {}, body: '' }
  expect(JSON.parse(body)).toMatchObject({ event_id: eventId, type: 'message.sent', device_id: 7 })
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': eventId })
  verify(secret)
  expect(() => verify(makeWebhookSecret())).toThrow()
})

test('the body has the reference of the message', async () => {
  await database.addWebhook(accountId, { url: target.url })
  const messageId = makeMessageId('15550100001')
  await database.sql`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation, reference)
    VALUES (${messageId}, ${accountId}, 7, 'out', 'text', '15550100001', '15550100002', 'sent', ${messageId}, 1, 'order 4711')`
  const eventId = await database.addEvent(accountId, { deviceId: 7, messageId })
  database.start()
  await untilReceived([eventId])
  const { data } = JSON.parse(target.requests[0]?.body ?? '{}')
  expect(data.message).toMatchObject({ message_id: messageId, reference: 'order 4711' })
})

test('signs with the former secret as well until it ends', async () => {
  const { id, secret } = await database.addWebhook(accountId, { url: target.url })
  const next = makeWebhookSecret()
  const rotate = (to: string, overlapMs: number) =>
    database.db.transaction((tx) =>
      rotateWebhookSecret(tx, accountId, id, { sealed: sealSecret(to, id), overlapMs }),
    )
  await rotate(next, 60_000)
  database.start()
  await untilReceived([await database.addEvent(accountId)])
  verify(secret)
  verify(next)
  const last = makeWebhookSecret()
  await rotate(last, 0)
  await until('a request that is signed by the last secret', async () => {
    await untilReceived([await database.addEvent(accountId)])
    return target.requests.at(-1)?.headers['webhook-signature']?.includes(' ') === false
  })
  verify(last, target.requests.length - 1)
  expect(() => verify(next, target.requests.length - 1)).toThrow()
})

test('delivers several events in one request, whose id is the same for the same events', async () => {
  const { secret } = await database.addWebhook(accountId, { url: target.url, eventsMax: 3 })
  const eventIds: string[] = []
  for (let count = 0; count < 3; count++) eventIds.push(await database.addEvent(accountId))
  let answered = 0
  target.answer = (_, response) => response.writeHead(answered++ === 0 ? 500 : 200).end()
  await until('the events to be readable', async () => {
    const [row] = await database.sql<{ isPast: boolean }[]>`
      SELECT bool_and(tx < pg_snapshot_xmin(pg_current_snapshot())) AS "isPast" FROM events`
    return row?.isPast
  })
  database.start()
  await until('the repeated request', () => target.requests.length === 2)
  const [first, second] = target.requests
  expect(JSON.parse(first?.body ?? '').events.map((event: { event_id: string }) => event.event_id)).toEqual(
    eventIds,
  )
  expect(second?.body).toBe(first?.body)
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  verify(secret)
})

test('delivers only the types and devices that the webhook wants, and nothing of other accounts', async () => {
  const other = await database.addAccount()
  await database.addWebhook(accountId, {
    url: target.url,
    types: [eventTypes['message.read']],
    deviceIds: [7],
  })
  await database.addEvent(other, { type: 'message.read', deviceId: 7 })
  await database.addEvent(accountId, { type: 'message.sent', deviceId: 7 })
  await database.addEvent(accountId, { type: 'message.read', deviceId: 8 })
  const wanted = await database.addEvent(accountId, { type: 'message.read', deviceId: 7 })
  database.start()
  await untilReceived([wanted])
  expect(target.eventIds()).toEqual([wanted])
})

test('keeps the order of a message, and does not wait for others', async () => {
  await database.addWebhook(accountId, { url: target.url })
  const slow = randomUUID()
  const [first, second] = [
    await database.addEvent(accountId, { messageId: slow }),
    await database.addEvent(accountId, { messageId: slow }),
  ]
  const others: string[] = []
  for (let count = 0; count < 6; count++)
    others.push(await database.addEvent(accountId, { messageId: randomUUID() }))
  const held: (() => void)[] = []
  target.answer = (request, response) => {
    if (request.headers['webhook-id'] === first) held.push(() => response.end())
    else response.end()
  }
  database.start({ limits: { requestMs: 20_000 } })
  await untilReceived([first, ...others])
  expect(target.eventIds()).not.toContain(second)
  for (const release of held) release()
  await untilReceived([second])
})

test('uses its connections to a target again, also after the target has closed one', async () => {
  await database.addWebhook(accountId, { url: target.url })
  database.start()
  for (let count = 0; count < 5; count++) await untilReceived([await database.addEvent(accountId)])
  expect(target.connections()).toBe(1)
  target.answer = (request, response) => response.end(() => request.socket.destroy())
  for (let count = 0; count < 3; count++) await untilReceived([await database.addEvent(accountId)])
  const [row] =
    await database.sql`SELECT count(*)::int AS failures FROM webhook_attempts WHERE status IS NULL`
  expect(row).toEqual({ failures: 0 })
})

test('a dispatcher that is stopped finishes the requests in flight and leaves the rest to the next one', async () => {
  await database.addWebhook(accountId, { url: target.url })
  const eventIds: string[] = []
  for (let count = 0; count < 20; count++)
    eventIds.push(await database.addEvent(accountId, { messageId: randomUUID() }))
  const held: (() => void)[] = []
  target.answer = (_, response) => held.push(() => response.end())
  const dispatcher = database.start({ limits: { requestMs: 20_000 } })
  await until('four requests', () => held.length === 4)
  const closed = dispatcher.close()
  target.answer = (_, response) => response.end()
  for (const release of held) release()
  await closed
  expect(target.requests).toHaveLength(4)
  database.start()
  await untilReceived(eventIds)
  expect(target.requests).toHaveLength(20)
})
