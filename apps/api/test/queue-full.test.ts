import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, storedOf } from './gateway.ts'

const limit = 20

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner({ QUEUED_MESSAGES_MAX: String(limit) })
})
afterAll(() => gateway.close())

const number = '4915199999999'

test('refuses messages beyond the limit of a sender until fewer are waiting', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  const send = (fields: Record<string, unknown> = {}) =>
    account.post('/send-message', { sender, number, message: 'x', ...fields })
  let accepted = 0
  let refused = await send({ idempotency_key: 'key 0' })
  while (refused.status === 200) refused = await send({ idempotency_key: `key ${++accepted}` })
  // Messages accepted during a count may be counted twice for a moment.
  expect(accepted).toBeGreaterThan(limit - 5)
  expect(accepted).toBeLessThanOrEqual(limit)
  expect(refused).toMatchObject({ status: 429, body: { code: 'queue_full' } })
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await storedOf(account)).toHaveLength(accepted)

  // A replay adds nothing and returns the first response.
  const repeated = await send({ idempotency_key: 'key 0' })
  expect(repeated.status).toBe(200)
  expect(repeated.headers.get('idempotent-replayed')).toBe('true')

  const other = await createSender(gateway)
  const fromOther = await other.account.post('/send-message', { sender: other.sender, number, message: 'x' })
  expect(fromOther.status).toBe(200)

  await gateway.db.$client`UPDATE messages SET status = 'sent' WHERE device_id = ${deviceId}`
  await vi.waitFor(async () => expect((await send()).status).toBe(200), { timeout: 10_000, interval: 200 })
})

test('counts messages from before the start and from other replicas', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  const send = () => account.post('/send-message', { sender, number, message: 'x' })
  expect((await send()).status).toBe(200)
  await gateway.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation)
    SELECT gen_random_uuid(), account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation
    FROM messages, generate_series(1, 100) WHERE device_id = ${deviceId}`
  await vi.waitFor(async () => expect((await send()).status).toBe(429), { timeout: 10_000, interval: 200 })
})
