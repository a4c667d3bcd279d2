import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createSender,
  type Gateway,
  linkDevice,
  ownShards,
  randomPhone,
  startGateway,
  startGatewayWithOwner,
} from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

test('a device without a socket stays connected for 60 s and is connected again once it is back', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  const status = async () => (await account.get('/info-device', { sender })).body.status
  const loseSocket = (seconds: number) => gateway.db.$client`
    UPDATE devices SET connection = 'offline', offline_since = now() - ${seconds} * interval '1 s'
    WHERE id = ${deviceId}`
  await loseSocket(50)
  expect(await status()).toBe('connected')
  await loseSocket(61)
  expect(await status()).toBe('disconnected')
  await gateway.db
    .$client`UPDATE devices SET connection = 'online', offline_since = NULL WHERE id = ${deviceId}`
  expect(await status()).toBe('connected')
})

test('a device that WhatsApp has banned says what for and until when, until it is connected again', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  const device = async () => (await account.get('/info-device', { sender })).body
  const ban = (reason: string | null, left: string | null) => gateway.db.$client`
    UPDATE devices SET connection = 'offline', offline_since = 'epoch', status_reason = ${reason},
      status_detail = 'too_many_people', login_after = now() + ${left}::interval WHERE id = ${deviceId}`
  await ban('temporarily_banned', '1 h')
  const banned = await device()
  expect(banned).toMatchObject({
    status: 'disconnected',
    status_reason: 'temporarily_banned',
    status_detail: 'too_many_people',
  })
  const leftMs = Date.parse(String(banned.login_after)) - Date.now()
  expect(leftMs).toBeGreaterThan(3_000_000)
  expect(leftMs).toBeLessThanOrEqual(3_600_000)
  expect((await account.get('/devices')).body).toMatchObject({
    devices: [{ login_after: banned.login_after }],
  })
  await ban('temporarily_banned', '-1 s')
  expect(await device()).not.toHaveProperty('login_after')
  await ban('blocked_by_whatsapp', null)
  expect(await device()).not.toHaveProperty('login_after')
  await gateway.db
    .$client`UPDATE devices SET connection = 'online', offline_since = NULL WHERE id = ${deviceId}`
  expect(await device()).not.toHaveProperty('status_detail')
})

test('a device is no longer connected once the lease of its worker has expired', async () => {
  const lone = await startGateway()
  try {
    const workerId = await ownShards(lone)
    const account = await lone.createAccount()
    const sender = randomPhone()
    const { body } = await account.post('/create-device', { sender })
    await linkDevice(lone, Number(body.device_id))
    const status = async () => (await account.get('/info-device', { sender })).body.status
    expect(await status()).toBe('connected')
    await lone.db.$client`UPDATE workers SET lease_until = now() - interval '1 ms' WHERE id = ${workerId}`
    expect(await status()).toBe('disconnected')
    await lone.db
      .$client`UPDATE workers SET lease_until = now() + interval '1 h', state = 'dead' WHERE id = ${workerId}`
    expect(await status()).toBe('disconnected')
  } finally {
    await lone.close()
  }
})
