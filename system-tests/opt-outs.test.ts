import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15550910001'
const recipient = '15550910002'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

it('a message to a recipient that has opted out fails and never leaves, until it opts in', async () => {
  await gateway.call('opt-out', { number: recipient })
  const refused = await gateway.untilStatus(await gateway.send(sender, recipient, 'refused'), 'failed')
  expect(refused.error_code).toBe('opted_out')
  const png = `data:image/png;base64,${onePixel}`
  const media = await gateway.call('send-media', { sender, number: recipient, type: 'image', url: png })
  expect((await gateway.untilStatus(String(media.body.message_id), 'failed')).error_code).toBe('opted_out')
  await gateway.deliver(sender, '15550910003', 'allowed')
  await gateway.call('opt-in', { number: recipient })
  await gateway.deliver(sender, recipient, 'wanted again')
  expect((await gateway.phone(recipient, sender)).map(({ text }) => text)).toEqual(['wanted again'])
})

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
