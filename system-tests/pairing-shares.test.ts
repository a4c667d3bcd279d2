import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { makePhones, type Phones } from '@wagate/test-kit/load/phones'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type Client = ReturnType<typeof makeGatewayClient>

let devnet: Devnet
let phones: Phones
let tenant: Client
let other: Client

beforeAll(async () => {
  devnet = await startDevnet({
    workers: 1,
    shards: 4,
    environment: () => ({
      PAIRINGS_MAX: '3',
      PAIRINGS_PER_ACCOUNT_MAX: '2',
      LIMIT_QR_CODES_PER_MINUTE: '0',
      LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '0',
    }),
  })
  phones = makePhones(devnet.simulator?.controlUrl ?? '')
  tenant = makeGatewayClient(devnet)
  const { body } = await tenant.call('create-user', {
    email: 'second@example.com',
    password: 'correct horse',
    devices_allowed: 10,
  })
  other = makeGatewayClient({ ...devnet, adminKey: { apiKey: String(body.api_key), isNew: false } })
}, 60_000)

afterAll(() => devnet?.close(), 30_000)

const generate = (client: Client, sender: string) => client.call('generate-qr', { sender })
const tooMany = { status: 429, body: { code: 'rate_limited' } }

it('QR codes shown at a time are limited for an account, and for a worker, and a scan makes room', async () => {
  const first = await generate(tenant, '15550800001')
  expect(first.status).toBe(200)
  expect((await generate(tenant, '15550800002')).status).toBe(200)
  expect(await generate(tenant, '15550800003')).toMatchObject(tooMany)
  // A new number each time, and a deleted device, are no way around it.
  await tenant.call('delete-device', { sender: '15550800003' })
  expect(await generate(tenant, '15550800004')).toMatchObject(tooMany)
  // One that is shown already is shown again.
  expect((await generate(tenant, '15550800002')).status).toBe(200)

  expect((await generate(other, '15550800005')).status).toBe(200)
  expect(await generate(other, '15550800006')).toMatchObject(tooMany)

  // What was refused is not wanted any more, and takes no room later.
  expect((await tenant.statusOf('15550800004')).status).toBe('disconnected')
  await phones.scan(String(first.body.qr_text), '15550800001')
  await until('it is linked', async () => (await tenant.statusOf('15550800001')).status === 'connected')
  await until('there is room', async () => (await generate(other, '15550800006')).status === 200)
}, 60_000)
