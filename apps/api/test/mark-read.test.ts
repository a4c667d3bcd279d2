import { makeMessageId } from '@wagate/shared/ids'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSender, type Gateway, recordCommands, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

type Sender = Awaited<ReturnType<typeof createSender>>

const number = '4915199999999'
const messageNotFound = { status: 404, body: { code: 'message_not_found' } }

async function receive({ account, sender, deviceId }: Sender): Promise<string> {
  const id = makeMessageId(sender)
  await gateway.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation)
    VALUES (${id}, ${account.userId}, ${deviceId}, 'in', 'text', ${sender}, ${number}, 'received', ${id}, 1)`
  return id
}

async function countRequests({ deviceId }: Sender): Promise<number> {
  return (await gateway.db.$client`SELECT FROM read_requests WHERE device_id = ${deviceId}`).length
}

test('a received message is requested once, however often it is asked for, and its owner is notified', async () => {
  const device = await createSender(gateway)
  const commands = await recordCommands(gateway, device.deviceId)
  const message_id = await receive(device)
  for (const ask of [device.account.get, device.account.post]) {
    expect((await ask('/mark-read', { message_id })).body).toEqual({ ok: true, requested: 1 })
  }
  expect(await countRequests(device)).toBe(1)
  await vi.waitFor(() => expect(commands.seen).toContain('mark-read'), eventually)
  await commands.close()
})

test('the messages of a chat are requested, and those of another number are not', async () => {
  const device = await createSender(gateway)
  for (const _ of ['one', 'two']) await receive(device)
  const { account, sender } = device
  const other = await account.post('/mark-read', { sender, number: '4915188888888' })
  expect(other.body).toEqual({ ok: true, requested: 0 })
  expect((await account.post('/mark-read', { sender, number: `+${number}` })).body.requested).toBe(2)
  expect(await countRequests(device)).toBe(2)
})

test('a message of another account, a sent one and an unknown one look alike', async () => {
  const [device, stranger] = [await createSender(gateway), await createSender(gateway)]
  const sent = await device.account.post('/send-message', { sender: device.sender, number, message: 'x' })
  const foreign = await stranger.account.post('/mark-read', { message_id: await receive(device) })
  const own = await device.account.post('/mark-read', { message_id: sent.body.message_id })
  const unknown = await device.account.post('/mark-read', { message_id: makeMessageId('4915100000000') })
  for (const answer of [foreign, own, unknown]) {
    expect(answer).toMatchObject(messageNotFound)
    expect(answer.body.error).toBe(unknown.body.error)
  }
  expect(await countRequests(device)).toBe(0)
})

test('the chat of another account is not found', async () => {
  const [device, stranger] = [await createSender(gateway), await createSender(gateway)]
  await receive(device)
  const answer = await stranger.account.post('/mark-read', { sender: device.sender, number })
  expect(answer).toMatchObject({ status: 404, body: { code: 'sender_not_found' } })
  expect(await countRequests(device)).toBe(0)
})

test('a message of a deleted sender has no receipt', async () => {
  const device = await createSender(gateway)
  const message_id = await receive(device)
  await device.account.post('/delete-device', { device_id: device.deviceId })
  expect((await device.account.post('/mark-read', { message_id })).body.requested).toBe(0)
})

describe('refuses parameters that name no message or several ways', () => {
  const message_id = makeMessageId('4915100000000')
  const sender = '4915112345678'
  test.each([
    {},
    { sender },
    { number },
    { message_id, sender },
    { message_id, number },
    { message_id, sender, number },
  ])('%j', async (given) => {
    const account = await gateway.createAccount()
    const answer = await account.post('/mark-read', given)
    expect(answer).toMatchObject({ status: 400, body: { code: 'missing_parameter' } })
  })
})
