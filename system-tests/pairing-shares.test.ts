import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

let system: TestSystem
let tenant: GatewayClient
let other: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    environment: { PAIRINGS_MAX: '3', PAIRINGS_PER_ACCOUNT_MAX: '2' },
  })
  tenant = system.gateway
  other = await system.createAccount()
}, 60_000)

afterAll(() => system?.close(), 30_000)

const generate = (client: GatewayClient, sender: string) => client.call('generate-qr', { sender })
const tooMany = { status: 429, body: { code: 'rate_limited' } }

it('QR codes shown at a time are limited for an account, and for a worker, and a scan makes room', async () => {
  const first = await generate(tenant, '15552015001')
  expect(first.status).toBe(200)
  expect((await generate(tenant, '15552015002')).status).toBe(200)
  expect(await generate(tenant, '15552015003')).toMatchObject(tooMany)
  // A new number each time, and a deleted device, are no way around it.
  await tenant.call('delete-device', { sender: '15552015003' })
  expect(await generate(tenant, '15552015004')).toMatchObject(tooMany)
  // One that is shown already is shown again.
  expect((await generate(tenant, '15552015002')).status).toBe(200)

  expect((await generate(other, '15552015005')).status).toBe(200)
  expect(await generate(other, '15552015006')).toMatchObject(tooMany)

  // What was refused is not wanted any more, and takes no room later.
  expect((await tenant.statusOf('15552015004')).status).toBe('disconnected')
  await system.phones.scan(String(first.body.qr_text), '15552015001')
  await until('it is linked', async () => (await tenant.statusOf('15552015001')).status === 'connected')
  await until('there is room', async () => (await generate(other, '15552015006')).status === 200)
}, 60_000)
