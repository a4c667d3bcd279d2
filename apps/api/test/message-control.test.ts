import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, storedOf } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'
const messageNotFound = { status: 404, body: { code: 'message_not_found' } }
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

async function sendOne(fields: Record<string, unknown> = {}) {
  const device = await createSender(gateway)
  const { body } = await device.account.post('/send-message', {
    sender: device.sender,
    number,
    message: 'Hello',
    ...fields,
  })
  return { ...device, message_id: String(body.message_id) }
}

async function setStatus(messageId: string, status: string): Promise<void> {
  await gateway.db.$client`UPDATE messages SET status = ${status} WHERE id = ${messageId}`
}

async function countBlobs(messageId: string): Promise<number> {
  const rows = await gateway.db.$client`SELECT 1 FROM media_blobs WHERE message_id = ${messageId}`
  return rows.length
}

describe.each(['/message-status', '/cancel-message'])('%s', (path) => {
  test.each([undefined, '', 'x', '1', 5])('refuses the id %j', async (message_id) => {
    const account = await gateway.createAccount()
    const code = (message_id ?? '') === '' ? 'missing_parameter' : 'invalid_parameter'
    expect(await account.post(path, { message_id })).toMatchObject({ status: 400, body: { code } })
  })

  test('finds only messages of the account', async () => {
    const { message_id } = await sendOne()
    const stranger = await gateway.createAccount()
    const unknown = await stranger.post(path, { message_id: makeMessageId('4915100000000') })
    const foreign = await stranger.post(path, { message_id })
    expect(unknown).toMatchObject(messageNotFound)
    expect(foreign).toMatchObject(messageNotFound)
    expect(foreign.body.error).toBe(unknown.body.error)
    expect(await stranger.get(path, { message_id: 'ffffffff-ffff-7fff-bfff-ffffffffffff' })).toMatchObject(
      messageNotFound,
    )
    const [row] = await gateway.db.$client`SELECT status FROM messages WHERE id = ${message_id}`
    expect(row?.status).toBe('queued')
  })
})

describe('message-status', () => {
  test('returns the same object as messages, and its timeline, by GET and POST', async () => {
    const { account, message_id } = await sendOne()
    const [record] = await storedOf(account)
    const answer = { ok: true, ...record, timeline: [{ step: 'queued', at: record?.created_at }] }
    expect((await account.get('/message-status', { message_id })).body).toEqual(answer)
    expect((await account.post('/api/message-status', { message_id })).body).toEqual(answer)
  })

  test('returns scheduled until the message is due, as messages does', async () => {
    const { account, message_id } = await sendOne({ send_at: inAnHour() })
    const status = async () => (await account.get('/message-status', { message_id })).body.status
    expect(await status()).toBe('scheduled')
    expect((await storedOf(account))[0]?.status).toBe('scheduled')
    await gateway.db.$client`UPDATE messages SET send_at = now() WHERE id = ${message_id}`
    expect(await status()).toBe('queued')
    expect((await storedOf(account))[0]?.status).toBe('queued')
  })
})

describe('cancel-message', () => {
  test.each([
    ['queued', {}],
    ['scheduled', { send_at: inAnHour() }],
  ])('cancels a message that is %s, and can be repeated', async (_, fields) => {
    const { account, sender, deviceId, message_id } = await sendOne(fields)
    const canceled = {
      status: 200,
      body: { ok: true, message_id, device_id: deviceId, sender, number, status: 'canceled' },
    }
    expect(await account.post('/cancel-message', { message_id })).toMatchObject(canceled)
    expect(await account.get('/cancel-message', { message_id })).toMatchObject(canceled)
    expect((await storedOf(account))[0]).toMatchObject({ status: 'canceled', error: null, sent_at: null })
  })

  test.each(['sending', 'sent', 'delivered', 'read', 'failed', 'received'])(
    'does not cancel a message that is %s',
    async (status) => {
      const { account, message_id } = await sendOne()
      await setStatus(message_id, status)
      const refused = await account.post('/cancel-message', { message_id })
      expect(refused).toMatchObject({ status: 409, body: { code: 'not_cancelable' } })
      expect(refused.body.error).toContain(status)
      expect((await storedOf(account))[0]).toMatchObject({ status })
    },
  )

  test('deletes the media of the message and no other', async () => {
    const { account, sender } = await createSender(gateway)
    const url = `data:image/png;base64,${png}`
    const send = async () => {
      const { body } = await account.post('/send-media', { sender, number, type: 'image', url })
      return String(body.message_id)
    }
    const [one, other] = [await send(), await send()]
    expect([await countBlobs(one), await countBlobs(other)]).toEqual([1, 1])
    await account.post('/cancel-message', { message_id: one })
    expect([await countBlobs(one), await countBlobs(other)]).toEqual([0, 1])
  })

  test('ends a request that waits for the message', async () => {
    const { account, sender } = await createSender(gateway)
    const waiting = account.post('/send-message', { sender, number, message: 'x', wait: 20 })
    let record: Record<string, unknown> | undefined
    while (!record) [record] = await storedOf(account)
    await account.post('/cancel-message', { message_id: record.message_id })
    expect((await waiting).body).toMatchObject({ ok: true, status: 'canceled' })
  })
})

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
