import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, linkDevice, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const [sender, otherForm] = ['5511987654321', '551187654321']
const number = '4915199999999'

test('a sender is the same one under both forms of its number', async () => {
  const account = await gateway.createAccount()
  const deviceId = Number((await account.post('/create-device', { sender })).body.device_id)
  await linkDevice(gateway, deviceId)
  const { body: again } = await account.post('/create-device', { sender: otherForm })
  expect(again).toMatchObject({ sender, device_id: deviceId })
  expect((await account.get('/info-device', { sender: otherForm })).body).toMatchObject({ sender })
  const given = { sender: otherForm, number, message: 'Hello', idempotency_key: 'k' }
  const { status, body } = await account.post('/send-message', given)
  expect([status, body.sender, body.device_id]).toEqual([200, sender, deviceId])
  expect((await account.post('/send-message', given)).body.message_id).toBe(body.message_id)
  const reply = { sender: otherForm, reply_to: body.message_id, message: 'Again' }
  expect((await account.post('/send-message', reply)).body).toMatchObject({ ok: true, sender, number })
  const { body: history } = await account.get('/messages', { sender: otherForm })
  expect(history.messages).toHaveLength(2)
  expect((await account.post('/mark-read', { sender: otherForm, number })).status).toBe(200)
  const strange = await account.post('/send-message', { sender: '5511987654320', number, message: 'Hello' })
  expect(strange).toMatchObject({ status: 404, body: { code: 'sender_not_found' } })
})

test('a number is taken as it was copied, or refused with the character that must go', async () => {
  const { account, sender } = await createSender(gateway)
  const send = (to: string) => account.post('/send-message', { sender, number: to, message: 'Hello' })
  for (const copied of [`\u202A+49 151 99999999\u202C`, 'tel:+49-151-99999999', '٤٩١٥١٩٩٩٩٩٩٩٩'])
    expect((await send(copied)).body).toMatchObject({ ok: true, number })
  const { status, body } = await send(`\u202E${number}`)
  expect([status, body.code, body.error]).toEqual([
    400,
    'invalid_parameter',
    expect.stringContaining('U+202E'),
  ])
})
