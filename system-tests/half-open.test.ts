import { setTimeout as delay } from 'node:timers/promises'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15550500001'
const recipient = '15550500002'
/** The shortest that can be set. */
const keepAliveMs = 1000

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1, environment: { KEEPALIVE_MS: String(keepAliveMs) } })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

const readStats = () => gateway.control<{ logins: number; stanzas: number }>('/stats')

it('keeps a connection on which nothing but pings is sent', async () => {
  const before = await readStats()
  // Without an answer, it would be given up after 5 s.
  await delay(6 * keepAliveMs)
  const after = await readStats()
  expect(after.logins).toBe(before.logins)
  expect(after.stanzas - before.stanzas).toBeGreaterThanOrEqual(4)
})

it('opens a new connection when WhatsApp falls silent, and sends what waited, once', async () => {
  const before = await readStats()
  await gateway.control('/faults', { kind: 'half_open', sender })
  const sent = await gateway.call('send-message', { sender, number: recipient, message: 'into the silence' })
  await until('the device logs in again', async () => {
    return (await readStats()).logins > before.logins
  })
  await gateway.untilMessage(sent.body.message_id, 'is delivered', ({ status }) => status === 'delivered')
  const received = await gateway.phone(recipient, sender)
  expect(received.filter(({ text }) => text === 'into the silence')).toHaveLength(1)
  expect((await gateway.statusOf(sender)).status).toBe('connected')
}, 40_000)
