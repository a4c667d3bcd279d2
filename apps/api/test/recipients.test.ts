import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

type Sender = Awaited<ReturnType<typeof createSender>>
const lid = '100000000000017'
const number = '4915199999999'

const send = ({ account, sender }: Sender, fields: Record<string, unknown>) =>
  account.post('/send-message', { sender, message: 'Hello', ...fields })

test('a message goes to a LID, and its record shows that', async () => {
  const device = await createSender(gateway)
  const shown = { number: null, lid }
  const { status, body } = await send(device, { lid })
  expect({ status, body }).toMatchObject({ status: 200, body: shown })
  const { message_id } = body
  expect((await device.account.post('/message-status', { message_id })).body).toMatchObject(shown)
  const later = await send(device, { lid, send_at: new Date(Date.now() + 3_600_000).toISOString() })
  const canceled = await device.account.post('/cancel-message', { message_id: later.body.message_id })
  expect(canceled.body).toMatchObject({ ...shown, status: 'canceled' })
  const media = { sender: device.sender, lid, type: 'image', url: 'https://example.com/a.png' }
  expect((await device.account.post('/send-media', media)).body).toMatchObject({ ...shown, type: 'image' })
})

test('a request names its recipient once', async () => {
  const device = await createSender(gateway)
  const [missing, both] = [await send(device, {}), await send(device, { number, lid })]
  expect(missing).toMatchObject({ status: 400, body: { code: 'missing_parameter' } })
  expect(missing.body.details).toMatchObject([{ parameter: 'number' }])
  expect(both).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  expect(both.body.details).toMatchObject([{ parameter: 'lid' }])
  expect(await send(device, { lid: 'ann' })).toMatchObject({ status: 400 })
})

test('a reply alone goes to the contact of the message, by number or LID', async () => {
  const device = await createSender(gateway)
  for (const to of [{ number }, { lid }]) {
    const first = await send(device, to)
    const { status, body } = await send(device, { reply_to: first.body.message_id })
    expect([status, body.number, body.lid]).toEqual('lid' in to ? [200, null, lid] : [200, number, undefined])
  }
  const hidden = await send(device, { lid })
  await gateway.db.$client`UPDATE messages SET number = '' WHERE id = ${String(hidden.body.message_id)}`
  const answer = await send(device, { reply_to: hidden.body.message_id })
  expect(answer).toMatchObject({ status: 200, body: { number: null, lid } })
  const { body } = await send(device, { lid })
  expect(await send(device, { lid: `${lid}9`, reply_to: body.message_id })).toMatchObject({ status: 404 })
  const stranger = await createSender(gateway)
  expect(await send(stranger, { reply_to: body.message_id })).toMatchObject({
    status: 404,
    body: { code: 'message_not_found' },
  })
})

test('under one idempotency key, a number and a LID are different messages', async () => {
  const device = await createSender(gateway)
  const first = await send(device, { lid, idempotency_key: 'k' })
  const again = await send(device, { lid, idempotency_key: 'k' })
  expect(again.body).toMatchObject({ message_id: first.body.message_id, number: null, lid })
  expect(await send(device, { number, idempotency_key: 'k' })).toMatchObject({ status: 422 })
})

test('opt-outs, opt-ins and the history take a LID', async () => {
  const device = await createSender(gateway)
  const { account } = device
  const shown = { number: null, lid }
  expect((await account.post('/opt-out', { lid })).body).toMatchObject(shown)
  expect((await account.get('/opt-outs')).body.opt_outs).toMatchObject([shown])
  const { events } = (await account.get('/events?types=recipient.opted_out')).body
  expect(events).toMatchObject([{ data: { number: null, lid } }])
  expect((await account.post('/opt-in', { lid })).body).toEqual({ ok: true, ...shown, was_opted_out: true })
  const { body } = await send(device, { lid })
  await send(device, { number })
  const { messages } = (await account.get(`/messages?lid=${lid}`)).body
  expect(messages).toMatchObject([{ message_id: body.message_id, ...shown }])
  expect(await account.post('/mark-read', { sender: device.sender, lid })).toMatchObject({
    status: 200,
    body: { requested: 0 },
  })
})

test('check-number needs a number', async () => {
  const device = await createSender(gateway)
  const { account, sender } = device
  expect(await account.post('/check-number', { sender, lid })).toMatchObject({
    status: 409,
    body: { code: 'number_unknown' },
  })
  expect(await account.post('/check-number', { sender })).toMatchObject({ status: 400 })
})
