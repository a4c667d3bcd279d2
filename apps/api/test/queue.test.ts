import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

test('says what waits for a sender, by priority, and why', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  expect((await account.get('/queue', { sender })).body).toMatchObject({
    device_id: deviceId,
    sending_state: 'active',
    waiting: { high: 0, normal: 0, bulk: 0 },
    oldest_at: null,
    held_by: [],
    estimate: null,
  })
  let number = 4915199990000
  const send = async (given: Record<string, string> = {}) => {
    number += 1
    const { body } = await account.post('/send-message', {
      sender,
      number: String(number),
      message: 'x',
      ...given,
    })
    return String(body.message_id)
  }
  const first = await send()
  for (let n = 0; n < 2; n++) await send({ priority: 'high' })
  for (let n = 0; n < 3; n++) await send({ priority: 'bulk' })
  await send({ send_at: inMs(3_600_000) })
  const away = await send({ priority: 'bulk' })
  await gateway.db.$client`UPDATE messages SET status = 'sending' WHERE id = ${away}`
  const { created_at } = (await account.get('/message-status', { message_id: first })).body
  const { body } = await account.get('/queue', { device_id: String(deviceId) })
  expect(body).toMatchObject({
    waiting: { high: 2, normal: 1, bulk: 3 },
    scheduled: 1,
    on_the_way: 1,
    oldest_at: created_at,
    today: { sent: 0, cap: null },
  })
  expect((body.held_by as { count: number }[]).reduce((sum, { count }) => sum + count, 0)).toBe(7)

  await account.post('/pause-sender', { sender })
  expect((await account.get('/queue', { sender })).body).toMatchObject({
    sending_state: 'held',
    held_by: expect.arrayContaining([{ reason: 'paused', count: expect.any(Number), until: null }]),
    estimate: null,
  })
})

test('a queue of another account is unknown', async () => {
  const [{ sender, deviceId }, { account }] = [await createSender(gateway), await createSender(gateway)]
  for (const given of [{ sender }, { device_id: String(deviceId) }])
    expect((await account.get('/queue', given)).body).toMatchObject({ ok: false, code: 'device_not_found' })
})
