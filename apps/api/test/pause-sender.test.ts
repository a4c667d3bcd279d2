import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

async function openSender() {
  const { account, sender, deviceId } = await createSender(gateway)
  const eventsOf = async () => {
    const { body } = await account.get('/events', { types: 'device.paused,device.resumed', limit: '100' })
    return (body.events as { type: string; data: Record<string, unknown> }[]).map(({ type, data }) => ({
      type,
      mode: data.mode,
      until: data.until,
    }))
  }
  const send = () => account.post('/send-message', { sender, number, message: 'x' })
  return { account, sender, deviceId, eventsOf, send }
}

test('a held sender accepts messages, and a refusing one does not', async () => {
  const { account, sender, deviceId, send } = await openSender()
  const held = await account.post('/pause-sender', { sender })
  expect(held.body).toMatchObject({ device_id: deviceId, sending: 'held' })
  expect(held.body).not.toHaveProperty('sending_until')
  const { body } = await send()
  expect(body).toMatchObject({
    ...{ ok: true, status: 'queued' },
    warnings: ['The sender is paused: the message waits until resume-sender.'],
  })
  expect((await account.get('/message-status', { message_id: String(body.message_id) })).body).toMatchObject({
    waiting_for: 'paused',
    waiting_until: null,
  })

  const until = inMs(3_600_000)
  const refusing = await account.get('/pause-sender', { device_id: String(deviceId), mode: 'refuse', until })
  expect(refusing.body).toMatchObject({ sending: 'refusing', sending_until: until })
  const refused = await send()
  expect(refused).toMatchObject({ status: 409, body: { code: 'sender_paused' } })
  expect(refused.body.error).toContain(until)

  expect((await account.post('/resume-sender', { sender })).body).toMatchObject({ sending: 'active' })
  expect((await send()).status).toBe(200)
})

test('each change is one event and one entry, and a repeated request is none', async () => {
  const { account, sender, deviceId, eventsOf } = await openSender()
  const until = inMs(60_000)
  for (let n = 0; n < 2; n++) await account.post('/pause-sender', { sender })
  for (let n = 0; n < 2; n++) await account.post('/pause-sender', { sender, mode: 'refuse', until })
  for (let n = 0; n < 2; n++) await account.post('/resume-sender', { sender })
  expect(await eventsOf()).toEqual([
    { type: 'device.paused', mode: 'hold', until: null },
    { type: 'device.paused', mode: 'refuse', until },
    { type: 'device.resumed', mode: undefined, until: undefined },
  ])
  const entries = await gateway.db.$client`
    SELECT result FROM audit_log WHERE target = ${`device:${deviceId}`} AND operation LIKE '%-sender' ORDER BY id`
  expect(entries.map(({ result }) => result)).toEqual(['held', 'refusing', 'resumed'])
})

test('a pause that is over is none', async () => {
  const { account, sender, deviceId, send, eventsOf } = await openSender()
  await account.post('/pause-sender', { sender, mode: 'refuse', until: inMs(60_000) })
  await gateway.db
    .$client`UPDATE devices SET pause_until = now() - interval '1 second' WHERE id = ${deviceId}`
  expect((await send()).status).toBe(200)
  expect((await account.get('/info-device', { sender })).body).toMatchObject({ sending: 'active' })
  await account.post('/resume-sender', { sender })
  expect(await eventsOf(), 'the end was said before').toHaveLength(1)
})

test.each([
  ['2020-01-01T00:00:00Z', 'until'],
  [inMs(400 * 86_400_000), 'until'],
])('an end at %s is refused', async (until, parameter) => {
  const { account, sender } = await openSender()
  const { status, body } = await account.post('/pause-sender', { sender, until })
  expect({ status, details: body.details }).toMatchObject({ status: 400, details: [{ parameter }] })
})
