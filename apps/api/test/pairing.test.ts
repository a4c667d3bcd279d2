import { eventually } from '@wagate/test-kit/until'
import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  type CuttableGateway,
  createSender,
  linkDevice,
  ownShards,
  randomPhone,
  recordCommands,
  startCuttableGateway,
  wipeDevice,
} from './gateway.ts'
import { showQr, waitForPairing } from './play-pairing.ts'

let gateway: CuttableGateway
beforeAll(async () => {
  gateway = await startCuttableGateway()
  await ownShards(gateway)
})
afterAll(() => gateway.close())

const alreadyConnected = { status: 409, body: { code: 'already_connected' } }

// jsqr is CommonJS and exports the function itself, but its types declare `default`.
const readCode = jsQR as unknown as typeof jsQR.default

async function statesOf(deviceId: number) {
  const [row] = await gateway.db.$client`
    SELECT desired, desired_rev, link_generation, revoked_generation FROM devices WHERE id = ${deviceId}`
  return row
}

test('creates the device and returns the QR code from its owner', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  const text = `2@${'A'.repeat(200)},key,identity,secret`
  const answering = account.post('/generate-qr', { sender, name: 'Shop' })
  const deviceId = await waitForPairing(gateway, sender)
  expect((await account.get('/info-device', { sender })).body.status).toBe('scanning')
  await showQr(gateway, deviceId, { text, retain: false })
  const { status, body } = await answering
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      ok: true,
      device_id: deviceId,
      sender,
      name: 'Shop',
      status: 'scanning',
      qr: expect.stringMatching(/^iVBORw0KGgo/),
      qr_data_url: `data:image/png;base64,${body.qr}`,
      qr_text: text,
      expires_in: expect.any(Number),
    },
  })
  expect(body.expires_in).toBeGreaterThan(15)
  expect(body.expires_in).toBeLessThanOrEqual(20)
  const { data, width, height } = PNG.sync.read(Buffer.from(String(body.qr), 'base64'))
  expect(readCode(new Uint8ClampedArray(data), width, height)?.data).toBe(text)
})

test('notifies the owner', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  const { body } = await account.post('/create-device', { sender })
  const deviceId = Number(body.device_id)
  const commands = await recordCommands(gateway, deviceId)
  const answering = account.get('/generate-qr', { sender })
  await vi.waitFor(() => expect(commands.seen).toEqual(['start-session']), eventually)
  await showQr(gateway, deviceId, { text: 'qr' })
  await answering
  await account.post('/logout-device', { sender })
  await vi.waitFor(() => expect(commands.seen).toEqual(['start-session', 'end-session']), eventually)
  await commands.close()
})

test('a request while scanning returns the current QR code and does not change the desired state', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  const first = account.post('/generate-qr', { sender })
  const deviceId = await waitForPairing(gateway, sender)
  await showQr(gateway, deviceId, { text: 'first' })
  expect((await first).body.qr_text).toBe('first')
  const before = await statesOf(deviceId)
  expect((await account.post('/generate-qr', { sender })).body.qr_text).toBe('first')
  await showQr(gateway, deviceId, { text: 'second' })
  const again = await account.post('/generate-qr', { sender, name: 'other', force: true })
  expect(again.body).toMatchObject({ qr_text: 'second', name: sender })
  expect(await statesOf(deviceId)).toEqual(before)
})

test('concurrent requests create one device and return the same QR code', async () => {
  const account = await gateway.createAccount({ devices_allowed: 1 })
  const sender = randomPhone()
  const answering = Promise.all(Array.from({ length: 10 }, () => account.post('/generate-qr', { sender })))
  await showQr(gateway, await waitForPairing(gateway, sender), { text: 'one' })
  for (const answer of await answering)
    expect(answer).toMatchObject({ status: 200, body: { qr_text: 'one' } })
})

test('the device limit applies', async () => {
  const account = await gateway.createAccount({ devices_allowed: 0 })
  expect(await account.post('/generate-qr', { sender: randomPhone() })).toMatchObject({
    status: 403,
    body: { code: 'device_limit_reached' },
  })
})

test('a QR code from a former owner is ignored, whether retained or announced', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  const { body } = await account.post('/create-device', { sender })
  const deviceId = Number(body.device_id)
  await showQr(gateway, deviceId, { text: 'former', epochAhead: -1 })
  const answering = account.post('/generate-qr', { sender })
  await waitForPairing(gateway, sender)
  await showQr(gateway, deviceId, { text: 'zombie', epochAhead: -1 })
  await showQr(gateway, deviceId, { text: 'current', retain: false })
  expect((await answering).body.qr_text).toBe('current')
})

test('a QR code that was scanned, or whose connection has ended, is ignored while Redis still has it', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  const { body } = await account.post('/create-device', { sender })
  const deviceId = Number(body.device_id)
  await showQr(gateway, deviceId, { text: 'dead' })
  await gateway.db.$client`UPDATE devices SET connection = 'offline' WHERE id = ${deviceId}`
  const answering = account.post('/generate-qr', { sender })
  await waitForPairing(gateway, sender)
  const { body: status } = await account.post('/pairing-status', { sender })
  expect(status).toMatchObject({ qr_data_url: null })
  await showQr(gateway, deviceId, { text: 'next' })
  expect((await answering).body.qr_text).toBe('next')
})

describe('a linked device', () => {
  test('returns 409 regardless of its connection, and stays linked', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const before = await statesOf(deviceId)
    expect(await account.post('/generate-qr', { sender })).toMatchObject(alreadyConnected)
    await gateway.db.$client`
      UPDATE devices SET connection = 'offline', offline_since = now() - interval '1 hour' WHERE id = ${deviceId}`
    expect(await account.post('/generate-qr', { sender, force: false })).toMatchObject(alreadyConnected)
    expect(await statesOf(deviceId)).toEqual(before)
  })

  test('is logged out first with force and accepts no further sends', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const answering = account.post('/generate-qr', { sender, force: 'true' })
    await waitForPairing(gateway, sender)
    expect(await statesOf(deviceId)).toEqual({
      desired: 'linked',
      desired_rev: 1,
      link_generation: 1,
      revoked_generation: 1,
    })
    expect((await account.get('/info-device', { sender })).body.status).toBe('scanning')
    expect(
      await account.post('/send-message', { sender, number: '4915111111111', message: 'x' }),
    ).toMatchObject({
      status: 409,
      body: { code: 'sender_not_connected' },
    })
    await wipeDevice(gateway, deviceId)
    await showQr(gateway, deviceId, { text: 'second' })
    expect((await answering).body.qr_text).toBe('second')
  })

  test('returns 409 when it is linked during a request', async () => {
    const account = await gateway.createAccount()
    const sender = randomPhone()
    const answering = account.post('/generate-qr', { sender })
    const deviceId = await waitForPairing(gateway, sender)
    await linkDevice(gateway, deviceId)
    await gateway.events.publish(deviceId, { kind: 'status', connected: true, reason: null })
    expect(await answering).toMatchObject(alreadyConnected)
  })

  test('can be paired again right after a logout, before its owner has reconciled', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    await account.post('/logout-device', { sender })
    const answering = account.post('/generate-qr', { sender })
    await waitForPairing(gateway, sender)
    // The old link still has to be logged out.
    expect(await statesOf(deviceId)).toMatchObject({
      desired: 'linked',
      link_generation: 1,
      revoked_generation: 1,
    })
    await wipeDevice(gateway, deviceId)
    await showQr(gateway, deviceId, { text: 'again' })
    expect((await answering).body.qr_text).toBe('again')
    await linkDevice(gateway, deviceId)
    expect((await account.get('/info-device', { sender })).body.status).toBe('connected')
  })
})

test('a logout ends the wait, and its QR code is not returned again', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  const first = account.post('/generate-qr', { sender })
  const deviceId = await waitForPairing(gateway, sender)
  await showQr(gateway, deviceId, { text: 'called off' })
  await first
  await account.post('/logout-device', { sender })
  expect(await gateway.events.findQr(deviceId)).toBeUndefined()

  const second = account.post('/generate-qr', { sender })
  await waitForPairing(gateway, sender)
  await account.post('/logout-device', { sender })
  expect(await second).toMatchObject({ status: 504, body: { code: 'qr_timeout' } })
})

test('returns 503 at once without Redis and does not change the desired state', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  await account.post('/create-device', { sender })
  gateway.redis.cut()
  try {
    const startedAt = performance.now()
    const answer = await account.post('/generate-qr', { sender })
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(performance.now() - startedAt).toBeLessThan(2500)
    expect((await account.get('/info-device', { sender })).body.status).toBe('disconnected')
  } finally {
    gateway.redis.heal()
  }
})

test.each([
  { sender: 'x' },
  { sender: '4915112345678', force: 'sure' },
  { sender: '4915112345678', name: 5 },
])('refuses %j', async (given) => {
  const account = await gateway.createAccount()
  expect(await account.post('/generate-qr', given)).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter' },
  })
})
