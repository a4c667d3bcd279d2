import { requestPairing, requestUnlink } from '@wagate/db/queries/devices/device-desired-state'
import { makeDeviceEvents } from '@wagate/queue/device-events'
import { openRedisLinks, type RedisLinks } from '@wagate/queue/redis-links'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let system: TestSystem
let gateway: GatewayClient
let redis: RedisLinks

beforeAll(async () => {
  // A poll would notice the logout.
  system = await openTestSystem({ workers: 1, environment: { OUTBOX_POLL_MS: '600000' } })
  gateway = system.gateway
  redis = openRedisLinks(system.devnet.redisUrl, { onError: () => undefined })
}, 60_000)

afterAll(async () => {
  await redis?.close()
  await system?.close()
}, 30_000)

/** Every session has its own keys. */
const keyOf = (qr: unknown) => String(qr).split(',')[1]
const scan = (qr: unknown, number: string) => gateway.control('/scan', { qr, number })

/** Does what logout-device does, except for the command to the owner. */
async function logOutUnnoticed(device: { id: number; accountId: number }): Promise<void> {
  await requestUnlink(system.database, device.accountId, device.id)
  await makeDeviceEvents(redis).clearQr(device.id)
}

async function generateQrOf(number: string) {
  const { status, body } = await gateway.call('generate-qr', { sender: number })
  expect(status).toBe(200)
  const id = Number(body.device_id)
  const [account] = await system.database.$client<
    { id: number }[]
  >`SELECT account_id AS id FROM devices WHERE id = ${id}`
  return { qr: body.qr_text, device: { id, accountId: account?.id ?? 0 } }
}

describe('when the owner did not notice that a logout came before the next generate-qr', () => {
  const sender = '15550909999'

  it('the QR code is replaced', async () => {
    const first = await generateQrOf(sender)
    await logOutUnnoticed(first.device)
    const second = await generateQrOf(sender)
    // Not the next one of the session that was logged out: that would come when the first has run out.
    expect(keyOf(second.qr)).not.toBe(keyOf(first.qr))
    expect(await scan(first.qr, sender)).toMatchObject({ ok: false })
    expect(await scan(second.qr, sender)).toMatchObject({ ok: true })
  })

  it('a phone that scans the former QR code is not linked', async () => {
    const number = '15550909998'
    const first = await generateQrOf(number)
    await logOutUnnoticed(first.device)
    await requestPairing(system.database, first.device.accountId, first.device.id, {
      pairingMs: 60_000,
      force: false,
    })
    expect(await scan(first.qr, number)).toMatchObject({ ok: true })
    const second = await generateQrOf(number)
    expect(keyOf(second.qr)).not.toBe(keyOf(first.qr))
    await until('the link is undone', async () => (await gateway.companionsOf(number)).length === 0)
    expect(await scan(second.qr, number)).toMatchObject({ ok: true })
    await until('it is connected', async () => (await gateway.statusOf(number)).status === 'connected')
  })
})

it('while WhatsApp refuses a logout, it is repeated after growing pauses', async () => {
  const sender = '15550909997'
  await gateway.link(sender)
  const listLogins = async () =>
    (await system.phones.logins()).flatMap((login) => (login.sender === sender ? Date.parse(login.t) : []))
  const before = (await listLogins()).length
  await system.phones.fault({ kind: 'logout_refuse', sender, code: '503' })
  await gateway.call('logout-device', { sender })
  // The first request goes through the connection that is open.
  const [second = 0, third = 0, fourth = 0] = await until('three logins for the logout', async () => {
    const logins = (await listLogins()).slice(before)
    return logins.length === 3 && logins
  })
  expect(third - second).toBeGreaterThanOrEqual(1000)
  expect(fourth - third).toBeGreaterThanOrEqual(2000)
  await system.phones.clearFaultsOf(sender)
  await until('it is logged out', async () => (await gateway.companionsOf(sender)).length === 0)
})
