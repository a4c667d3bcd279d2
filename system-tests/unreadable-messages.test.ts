import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type Fields = Record<string, unknown>
type Event = { type: string; timestamp: string; data: Fields & { message_id: string; message: Fields } }

const [sender, contact] = ['15552935201', '15552935202']
let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

const startFault = (kind: string, more: Fields) =>
  gateway.control('/faults', { kind, sender: contact, number: sender, ...more })

async function write(content: Fields): Promise<string> {
  const answer = await gateway.control<Fields>(`/chats/${contact}/send`, { to: sender, ...content })
  return String(answer.wa_message_id)
}

/** About the message with this id. */
const untilEvent = (wanted: string, waId: string) =>
  until(wanted, async () =>
    ((await gateway.get('events')).body.events as Event[]).find(
      ({ type, data }) => type === wanted && (data.wa_message_id ?? data.message?.wa_message_id) === waId,
    ),
  )

/** The events of a message, once there are that many. */
const untilEvents = (waId: string, count: number) =>
  until(`${count} events`, async () => {
    const all = (await gateway.get('events')).body.events as Event[]
    const found = all.filter(({ data }) => data.message?.wa_message_id === waId)
    return found.length >= count && found
  })

const untilAcknowledged = () =>
  until('everything is acknowledged', async () => {
    const phones = await gateway.control<{ number: string; companions: { pending: number }[] }[]>('/phones')
    return phones.find(({ number }) => number === sender)?.companions.every(({ pending }) => pending === 0)
  })

it.each([
  ['view_once', 'view_once'],
  ['hosted_unavailable_fanout', 'hosted'],
])(
  'a message that companions get as %s is stored without its content, and says so',
  async (code, unavailable) => {
    await startFault('unavailable', { code, count: 1 })
    const waId = await write({ text: 'Look' })
    const [event] = (await untilEvents(waId, 1)) ?? []
    expect(event).toMatchObject({ type: 'message.received' })
    expect(event?.data.message).toMatchObject({ number: contact, type: 'other', message: null, unavailable })
    await untilAcknowledged()
    expect(await system.metricsOf('worker-1')).toMatch(
      new RegExp(`wagate_messages_unavailable_total{reason="${unavailable}"} [1-9]`),
    )
  },
)

it('a message that cannot be decrypted at the last try is stored, and has its content when that comes', async () => {
  await startFault('garble', { count: 6 })
  const waId = await write({ text: 'At last' })
  const events = (await untilEvents(waId, 2)) ?? []
  const ids = new Set(events.map(({ data }) => data.message_id))
  expect(ids.size).toBe(1)
  expect(events[1]?.data.message).toMatchObject({ message: 'At last', type: 'text', unavailable: null })
  const { body } = await gateway.get(`messages?number=${contact}&limit=50`)
  const stored = (body.messages as Fields[]).filter(({ wa_message_id }) => wa_message_id === waId)
  expect(stored).toHaveLength(1)
})

it('a message that was decrypted at another try is received once, with its author and its time', async () => {
  await startFault('garble', { count: 1 })
  const waId = await write({ text: 'Again' })
  const [event] = (await untilEvents(waId, 1)) ?? []
  expect(event?.data.message).toMatchObject({
    message: 'Again',
    unavailable: null,
    push_name: `+${contact}`,
    written_at: expect.any(String),
  })
  expect(event?.timestamp).toBe(event?.data.message.written_at)
  await untilAcknowledged()
  expect(await untilEvents(waId, 1)).toHaveLength(1)
})

it('an edit that cannot be decrypted is an edit without a text, never a message', async () => {
  const waId = await write({ text: 'First' })
  const received = await untilEvent('message.received', waId)
  const targetMessageKey = { id: waId, fromMe: true, remoteJid: `${sender}@s.whatsapp.net` }
  const bytes = (count: number) => Buffer.alloc(count, 1).toString('base64')
  const sealed = { targetMessageKey, encPayload: bytes(40), encIv: bytes(12), secretEncType: 'MESSAGE_EDIT' }
  await write({ content: { secretEncryptedMessage: sealed } })
  const edited = await untilEvent('message.edited', waId)
  expect(edited?.data).toMatchObject({ message_id: received?.data.message_id, text: null })
  expect(edited?.data.message).toMatchObject({ message: 'First', edited_at: expect.any(String) })
})

it('an encrypted edit replaces the text, also when the worker was restarted meanwhile', async () => {
  const messageContextInfo = { messageSecret: Buffer.alloc(32, 7).toString('base64') }
  const waId = await write({ content: { conversation: 'Thnaks', messageContextInfo } })
  await untilEvent('message.received', waId)
  await system.devnet.stop('worker-1')
  await system.devnet.start('worker-1')
  await write({ edit: { wa_message_id: waId, text: 'Thank you', encrypted: true } })
  const edited = await untilEvent('message.edited', waId)
  expect(edited?.data.message).toMatchObject({ message: 'Thank you', edited_at: expect.any(String) })
})
