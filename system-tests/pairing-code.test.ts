import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, it } from 'vitest'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
}, 60_000)

afterAll(() => system?.close(), 30_000)

const type = (number: string, code: unknown) =>
  gateway.control<{ ok: boolean; error?: string }>('/type-code', { number, code })

const untilConnected = (sender: string) =>
  until(`${sender} is connected`, async () => (await gateway.statusOf(sender)).status === 'connected')

it.concurrent('links the sender whose phone types the code', async ({ expect }) => {
  const sender = '15552014001'
  const { status, body } = await gateway.call('pair-code', { sender, name: 'Typed' })
  expect(status).toBe(200)
  expect(body).toMatchObject({ sender, name: 'Typed', status: 'scanning' })
  expect(body.pairing_code).toMatch(/^[1-9A-HJ-NP-Z]{8}$/)
  expect(body.expires_in).toBeGreaterThan(60)

  expect(await type(sender, body.pairing_code)).toEqual({ ok: true, jid: expect.anything() })
  await untilConnected(sender)
  const sent = await gateway.call('send-message', { sender, number: '15552014099', message: 'x', wait: 20 })
  expect(['sent', 'delivered']).toContain(sent.body.status)
  expect((await gateway.call('pair-code', { sender })).body.code).toBe('already_connected')
})

it.concurrent('shows the same code again, and a phone that types another is not linked', async ({
  expect,
}) => {
  const sender = '15552014002'
  const code = (await gateway.call('pair-code', { sender })).body.pairing_code
  expect((await gateway.call('pair-code', { sender })).body.pairing_code).toBe(code)
  expect(await type(sender, '22222222')).toMatchObject({ ok: false })
  expect(await gateway.companionsOf(sender)).toEqual([])
  expect(await type(sender, code)).toEqual({ ok: true, jid: expect.anything() })
  await untilConnected(sender)
})

it.concurrent('offers a QR code beside it, which can be scanned instead', async ({ expect }) => {
  const sender = '15552014003'
  await gateway.call('pair-code', { sender })
  const { body } = await gateway.call('generate-qr', { sender })
  await system.phones.scan(String(body.qr_text), sender)
  await untilConnected(sender)
  expect(await gateway.companionsOf(sender)).toHaveLength(1)
})

it.concurrent('is given for a QR code that is shown already', async ({ expect }) => {
  const sender = '15552014004'
  await gateway.call('generate-qr', { sender })
  const { body } = await gateway.call('pair-code', { sender })
  expect(await type(sender, body.pairing_code)).toEqual({ ok: true, jid: expect.anything() })
  await untilConnected(sender)
})

it.concurrent.for([
  ['400', 409, 'pairing_code_refused'],
  ['403', 409, 'pairing_code_refused'],
  ['452', 409, 'pairing_code_refused'],
  ['429', 429, 'rate_limited'],
  ['500', 503, 'unavailable'],
] as const)(
  'says what WhatsApp answered with (%s), and leaves the QR code',
  async ([code, status, errorCode], { expect }) => {
    const sender = `15550731${code}`
    await system.phones.fault({ kind: 'pair_code_error', sender, code })
    const refused = await gateway.call('pair-code', { sender })
    expect(refused.status).toBe(status)
    expect(refused.body).toMatchObject({ code: errorCode, error: expect.stringContaining(code) })
    expect((await gateway.call('generate-qr', { sender })).body.qr_text).toBeTruthy()
    await gateway.call('logout-device', { sender })
  },
)
