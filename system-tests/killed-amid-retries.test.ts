import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withClockAhead } from './clock-ahead.ts'

type Fields = Record<string, unknown>
type Event = { type: string; data: { message: Fields } }

const [sender, contact] = ['15552197011', '15552197012']
const minute = { withinMs: 60_000, everyMs: 100 }
let system: TestSystem
let gateway: GatewayClient
let aheadMs = 0

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    environment: withClockAhead(() => aheadMs),
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

const isAcknowledged = async () => {
  const phones = await gateway.control<{ number: string; companions: { pending: number }[] }[]>('/phones')
  return phones.find(({ number }) => number === sender)?.companions.every(({ pending }) => pending === 0)
}

it('a message that could not be decrypted leaves a trace when its worker is killed and nothing comes again', async () => {
  for (const kind of ['garble', 'no_resends'])
    await gateway.control('/faults', { kind, sender: contact, number: sender, count: 1 })
  const { wa_message_id: waId } = await gateway.control<Fields>(`/chats/${contact}/send`, {
    ...{ to: sender, text: 'Lost' },
  })
  // The worker has refused it, so WhatsApp does not deliver it to the next one.
  const { refused } = await until('it is asked for again', minute, async () => {
    const faults = await gateway.control<{ kind: string; strikes: number }[]>('/faults')
    return !faults.some(({ kind }) => kind === 'no_resends') && { refused: await isAcknowledged() }
  })
  expect(refused).toBe(true)
  system.devnet.signal('worker-1', 'SIGKILL')
  await until('the worker is gone', minute, () => !system.devnet.pid('worker-1'))
  // The minute in which the sender may answer is over.
  aheadMs = 120_000
  await system.devnet.start('worker-1')
  const event = await until('the message is received', minute, async () =>
    ((await gateway.get('events')).body.events as Event[]).find(
      ({ type, data }) => type === 'message.received' && data.message.wa_message_id === waId,
    ),
  )
  expect(event.data.message).toMatchObject({
    ...{ number: contact, message: null, unavailable: 'undecryptable', push_name: `+${contact}` },
    written_at: expect.any(String),
  })
}, 120_000)
