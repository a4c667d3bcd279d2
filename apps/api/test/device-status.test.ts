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
