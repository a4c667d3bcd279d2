import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, ownShards, randomPhone, startGateway } from './gateway.ts'
import { givePairingCode, waitForPairing } from './play-pairing.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
  await ownShards(gateway)
})
afterAll(() => gateway.close())

async function request(sender = randomPhone()) {
  const account = await gateway.createAccount()
  const answering = account.post('/pair-code', { sender })
  return { answering, deviceId: await waitForPairing(gateway, sender) }
}

test('returns the pairing code of the owner, and for how long it is valid', async () => {
  const { answering, deviceId } = await request()
  await givePairingCode(gateway, deviceId)
  const { status, body } = await answering
  expect(status).toBe(200)
  expect(body).toMatchObject({ device_id: deviceId, status: 'scanning', pairing_code: 'K7QX2M9F' })
  expect(body.expires_in).toBeGreaterThan(15)
  expect(body.expires_in).toBeLessThanOrEqual(20)
})

test.each([
  ['403', 409, 'pairing_code_refused'],
  ['429', 429, 'rate_limited'],
  ['503', 503, 'unavailable'],
])('returns what WhatsApp refused the code with (%s)', async (error, status, code) => {
  const { answering, deviceId } = await request()
  await gateway.events.publish(deviceId, { kind: 'pairing-code-refused', error })
  expect(await answering).toMatchObject({ status, body: { code, error: expect.stringContaining(error) } })
})
