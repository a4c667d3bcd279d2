import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, linkDevice, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

type Sender = Awaited<ReturnType<typeof createSender>>
const number = '4915199999999'
const messageNotFound = { status: 404, body: { code: 'message_not_found' } }

const send = ({ account, sender }: Sender, fields: Record<string, unknown> = {}) =>
  account.post('/send-message', { sender, number, message: 'Hello', ...fields })

test('a message quotes another of its chat, by either id', async () => {
  const device = await createSender(gateway)
  const { body } = await send(device)
  const first = String(body.message_id)
  for (const reply_to of [first, whatsAppIdOf(first)]) {
    const reply = await send(device, { reply_to })
    expect(reply.status).toBe(200)
    const { message_id } = reply.body
    expect((await device.account.post('/message-status', { message_id })).body.reply_to).toEqual({
      wa_message_id: whatsAppIdOf(first),
      message_id: first,
      from_me: true,
      type: 'text',
      text: 'Hello',
    })
  }
})

test('a message quotes none of another chat, sender or account, and none that never left', async () => {
  const device = await createSender(gateway)
  const stranger = await createSender(gateway)
  const { body: theirs } = await send(stranger)
  const { body: elsewhere } = await send(device, { number: '4915188888888' })
  const { body: canceled } = await send(device)
  await device.account.post('/cancel-message', { message_id: canceled.message_id })
  const unknown = makeMessageId(device.sender)
  for (const id of [theirs, elsewhere, canceled]
    .map(({ message_id }) => String(message_id))
    .concat(unknown)) {
    expect(await send(device, { reply_to: id })).toMatchObject(messageNotFound)
    expect(await send(device, { reply_to: whatsAppIdOf(id) })).toMatchObject(messageNotFound)
  }
  // The other account has a device of the same number.
  const account = await gateway.createAccount()
  const { body: created } = await account.post('/create-device', { sender: device.sender })
  const deviceId = Number(created.device_id)
  await linkDevice(gateway, deviceId)
  const twin = { account, sender: device.sender, deviceId }
  const { body: ours } = await send(device)
  expect(await send(twin, { reply_to: ours.message_id })).toMatchObject(messageNotFound)
  expect(await send(twin, { reply_to: whatsAppIdOf(String(ours.message_id)) })).toMatchObject(messageNotFound)
})

test('a repeated request is answered as before when the quoted message is gone', async () => {
  const device = await createSender(gateway)
  const { body: first } = await send(device)
  const fields = { reply_to: first.message_id, idempotency_key: 'k' }
  const reply = await send(device, fields)
  await gateway.db.$client`DELETE FROM messages WHERE id = ${String(first.message_id)}`
  expect((await send(device, fields)).body.message_id).toBe(reply.body.message_id)
  expect(await send(device, { ...fields, idempotency_key: 'l' })).toMatchObject(messageNotFound)
})
