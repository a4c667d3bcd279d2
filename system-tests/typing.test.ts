import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type Typing = { from: string; state: string; at: string }

const sender = '15550930001'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

const typingOn = (number: string) => gateway.control<Typing[]>(`/chats/${number}/typing`)

async function send(number: string, fields: Record<string, unknown>): Promise<string> {
  const { body } = await gateway.call('send-message', { sender, number, message: 'hello', ...fields })
  return String(body.message_id)
}

const untilTyping = (number: string) =>
  until('the recipient sees the sender type', async () => (await typingOn(number)).length > 0)

async function receivedAtMs(number: string): Promise<number> {
  const [message] = await gateway.control<{ received_at: string }[]>(`/chats/${number}/messages`)
  return Date.parse(message?.received_at ?? '')
}

it('shows the recipient that the sender is typing for that long before the message', async () => {
  const number = '15550930011'
  await gateway.untilStatus(await send(number, { typing: 1 }), 'delivered')
  const shown = await typingOn(number)
  expect(shown).toMatchObject([{ from: sender, state: 'composing' }])
  // Node's timers and the two times are rounded to milliseconds.
  expect((await receivedAtMs(number)) - Date.parse(shown[0]?.at ?? '')).toBeGreaterThanOrEqual(990)
})

it('shows the recipient of an audio file that the sender is recording', async () => {
  const number = '15550930012'
  const bytes = mediaSamples.find(({ type }) => type === 'audio')?.bytes ?? Buffer.alloc(0)
  const url = `data:audio/mpeg;base64,${bytes.toString('base64')}`
  const { body } = await gateway.call('send-media', { sender, number, type: 'audio', url, typing: 1 })
  await gateway.untilStatus(String(body.message_id), 'delivered')
  expect(await typingOn(number)).toMatchObject([{ state: 'recording' }])
})

it('shows nothing without the option, and delays no other recipient with it', async () => {
  const [number, other] = ['15550930013', '15550930014']
  const id = await send(number, { typing: 10 })
  await untilTyping(number)
  await gateway.deliver(sender, other)
  expect(await typingOn(other)).toEqual([])
  expect((await gateway.messageStatus(id)).status).toBe('queued')
  expect((await gateway.call('cancel-message', { message_id: id })).status).toBe(200)
  expect(await gateway.phone(number)).toEqual([])
})

it('does not show it again when the message has to be sent again', async () => {
  const number = '15550930015'
  await gateway.control('/faults', { kind: 'ack_drop', sender, number, count: 1 })
  await gateway.control('/faults', { kind: 'no_receipts', sender, number, count: 1 })
  const id = await send(number, { typing: 1 })
  await until('the message has arrived', async () => (await gateway.phone(number)).length > 0)
  await gateway.control('/faults', { kind: 'drop', sender })
  await gateway.untilStatus(id, 'delivered')
  expect(await gateway.phone(number)).toMatchObject([{ duplicates: 1 }])
  expect(await typingOn(number)).toHaveLength(1)
}, 60_000)
