import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

type Sender = Awaited<ReturnType<typeof createSender>>

const number = '4915199999999'

async function send({ account, sender }: Sender, fields: Record<string, unknown>) {
  const { body } = await account.post('/send-message', { sender, number, message: 'x', ...fields })
  return body
}

test('the reference of a send is in its answer, in every record of the message and in its events', async () => {
  const sender = await createSender(gateway)
  const { account } = sender
  const reference = 'order 4711 / Ünïcødé 🛵'
  const sent = await send(sender, { reference })
  const { message_id } = sent
  expect(sent).toMatchObject({ ok: true, reference })
  expect((await account.post('/message-status', { message_id })).body).toMatchObject({ reference })
  expect((await account.get('/messages')).body.messages).toMatchObject([{ message_id, reference }])
  const canceled = await account.post('/cancel-message', { message_id })
  expect(canceled.body).toMatchObject({ status: 'canceled', reference })
  const read = async () => {
    const { body } = await account.get('/events')
    return (body.events as { type: string; data: { message?: { reference: string | null } } }[]).flatMap(
      ({ type, data }) => (type.startsWith('message.') ? [[type, data.message?.reference]] : []),
    )
  }
  await expect.poll(read, { timeout: 20_000 }).toEqual([
    ['message.accepted', reference],
    ['message.canceled', reference],
  ])
})

test('a file has a reference as well, and a message without one has null', async () => {
  const sender = await createSender(gateway)
  const { account } = sender
  const fields = { sender: sender.sender, number, type: 'image', url: 'https://example.com/a.png' }
  const sent = await account.post('/send-media', { ...fields, reference: 'a' })
  expect(sent.body).toMatchObject({ ok: true, reference: 'a' })
  const other = await send(sender, {})
  expect(other).not.toHaveProperty('reference')
  const found = (await account.get('/messages')).body.messages as { reference: string | null }[]
  expect(found.map(({ reference }) => reference)).toEqual([null, 'a'])
})

test('messages are found by their reference: all of them, the newest, and those of no other account', async () => {
  const [mine, other] = [await createSender(gateway), await createSender(gateway)]
  const first = await send(mine, { reference: 'a' })
  const second = await send(mine, { reference: 'a' })
  await send(mine, { reference: 'A' })
  await send(other, { reference: 'a' })
  const { body } = await mine.account.get('/messages', { reference: 'a' })
  expect((body.messages as { message_id: string }[]).map(({ message_id }) => message_id)).toEqual([
    second.message_id,
    first.message_id,
  ])
  const status = (given: object) => mine.account.post('/message-status', { ...given })
  expect((await status({ reference: 'a' })).body).toMatchObject({
    message_id: second.message_id,
    reference: 'a',
  })
  const { message_id } = first
  expect((await status({ message_id, reference: 'a' })).body).toMatchObject({ message_id })
  for (const given of [{ reference: 'b' }, { message_id, reference: 'A' }])
    expect((await status(given)).body).toMatchObject({ code: 'message_not_found' })
  expect((await status({})).body).toMatchObject({ code: 'missing_parameter' })
})

test('the reference belongs to what an idempotency key stands for', async () => {
  const sender = await createSender(gateway)
  const idempotency_key = randomUUID()
  const first = await send(sender, { reference: 'a', idempotency_key })
  expect(await send(sender, { reference: 'a', idempotency_key })).toMatchObject({
    message_id: first.message_id,
    reference: 'a',
  })
  expect(await send(sender, { reference: 'b', idempotency_key })).toMatchObject({
    code: 'idempotency_key_reused',
  })
})

test.each([
  ['of 190 characters is taken', '🛵'.repeat(190), true],
  ['of 191 characters is refused', 'x'.repeat(191), false],
])('a reference %s', async (_, reference, isTaken) => {
  const sender = await createSender(gateway)
  expect(await send(sender, { reference })).toMatchObject(
    isTaken ? { ok: true, reference } : { code: 'invalid_parameter' },
  )
})
