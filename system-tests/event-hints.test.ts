import { type EventHints, makeEventHints } from '@wagate/queue/event-hints'
import { openRedisLinks, type RedisLinks } from '@wagate/queue/redis-links'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

const sender = '15550310001'
const recipient = '15550310002'
const nobody = 2_000_000_000

let system: TestSystem
let gateway: GatewayClient
let hints: EventHints
let redis: RedisLinks
/** The accounts of all hints that came. */
let heard: number[] = []

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
  redis = openRedisLinks(system.devnet.redisUrl, { onError: () => undefined })
  hints = makeEventHints(redis)
  hints.onEvents((accountId) => heard.push(accountId))
  // Nothing else tells when the subscription exists.
  await vi.waitFor(() => {
    hints.publish(nobody)
    expect(heard).toContain(nobody)
  }, eventually)
}, 60_000)

afterAll(async () => {
  await hints?.close()
  await redis?.close()
  await system?.close()
}, 30_000)

/** Resolves when as many hints for the account have come since the last call. */
async function untilHinted(count = 1): Promise<void> {
  const { body } = await gateway.call('user-info', {})
  const countHints = () => heard.filter((accountId) => accountId === body.id).length
  await expect.poll(countHints, { timeout: 10_000 }).toBeGreaterThanOrEqual(count)
  heard = []
}

test('the API and the worker publish a hint for each event', async () => {
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const scheduled = { sender, number: recipient, message: 'Later', send_at: later }
  const { body: accepted } = await gateway.call('send-message', scheduled)
  await untilHinted()
  await gateway.call('cancel-message', { message_id: accepted.message_id })
  await untilHinted()

  const { body: sent } = await gateway.call('send-message', { sender, number: recipient, message: 'Hello' })
  const record = await gateway.untilMessage(sent.message_id, 'is delivered', (m) => m.status === 'delivered')
  await untilHinted()
  // Hints of before would come first.
  await gateway.control(`/chats/${recipient}/read`, { wa_message_id: record.wa_message_id })
  await untilHinted()
  await gateway.control(`/chats/${recipient}/send`, { to: sender, text: 'Hi' })
  await untilHinted()
  const file = Buffer.from('%PDF-1.7').toString('base64')
  // One for the message and one for its file.
  await gateway.control(`/chats/${recipient}/send`, { to: sender, text: 'x', file, mime: 'application/pdf' })
  await untilHinted(2)
  await gateway.call('mark-read', { sender, number: recipient })
  await untilHinted()
})

test('the API and the worker publish a hint for each event of a device', async () => {
  await gateway.control(`/chats/${sender}/time-lock`, { seconds: 3600 })
  await untilHinted()
  await gateway.control(`/chats/${sender}/new-chat-cap`, { total: 30, seconds: 3600 })
  await untilHinted()
  await system.phones.fault({ kind: 'stream_error', code: '403', sender })
  await untilHinted()
  await gateway.call('logout-device', { sender })
  await untilHinted()
})
