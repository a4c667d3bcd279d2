import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type OnPhone = { wa_message_id: string; direction: 'in' | 'out'; with: string; status: string }

const sender = '15550920001'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

/** The contact writes to the sender. Resolves to the ids of the message when it is stored. */
async function receive(contact: string): Promise<{ messageId: string; waId: string }> {
  const { wa_message_id: waId } = await gateway.control<{ wa_message_id: string }>(`/chats/${contact}/send`, {
    to: sender,
    text: 'a question',
  })
  const messageId = await until(
    'the message is stored',
    async () =>
      (await gateway.history(`?sender=${sender}`)).find(({ wa_message_id }) => wa_message_id === waId)
        ?.message_id,
  )
  return { messageId, waId }
}

async function statusOn(phone: string, waId: string): Promise<string | undefined> {
  const timeline = await gateway.control<OnPhone[]>(`/chats/${phone}/timeline`)
  return timeline.find(({ wa_message_id }) => wa_message_id === waId)?.status
}

const untilRead = (phone: string, waId: string) =>
  until('the phone shows that it was read', async () => (await statusOn(phone, waId)) === 'read')

const untilReadAt = (messageId: string) =>
  until(
    'it has read_at',
    async () => (await gateway.call('message-status', { message_id: messageId })).body.read_at,
  )

it('tells the contact that a message was read, and no other message', async () => {
  const contact = '15550920011'
  const [first, second] = [await receive(contact), await receive(contact)]
  expect((await gateway.call('mark-read', { message_id: first.messageId })).body.requested).toBe(1)
  await untilRead(contact, first.waId)
  await untilRead(sender, first.waId)
  await untilReadAt(first.messageId)
  expect(await statusOn(contact, second.waId)).toBe('delivered')
  expect((await gateway.messageStatus(first.messageId)).status).toBe('received')
  expect((await gateway.call('mark-read', { message_id: first.messageId })).body.requested).toBe(0)
  const { body } = await gateway.get('events?types=message.marked_read')
  const [event, ...others] = body.events as { timestamp: string; data: { message: { read_at: string } } }[]
  expect(event?.data).toMatchObject({ message_id: first.messageId, message: { read_at: event?.timestamp } })
  expect(others).toEqual([])
})

it('tells a contact that all of its messages were read, also one that writes from its LID', async () => {
  const contact = '15550920012'
  const received = [await receive(contact)]
  const { body } = await gateway.call('mark-read', { sender, number: contact })
  expect(body.requested).toBe(1)
  await gateway.deliver(sender, contact, 'an answer')
  received.push(await receive(contact), await receive(contact))
  const latest = (await gateway.call('message-status', { message_id: received[2]?.messageId })).body
  expect(latest.lid).toEqual(expect.any(String))
  await gateway.call('mark-read', { sender, number: contact })
  for (const { messageId, waId } of received) {
    await untilRead(contact, waId)
    await untilReadAt(messageId)
  }
})

it('sends the receipt after the login when the owner was killed before it', async () => {
  const contact = '15550920013'
  const { messageId, waId } = await receive(contact)
  const owner = await system.ownerOf(sender)
  system.devnet.signal(owner, 'SIGKILL')
  await until('the owner is gone', async () => !system.devnet.names().includes(owner))
  expect((await gateway.call('mark-read', { message_id: messageId })).body.requested).toBe(1)
  expect(await statusOn(contact, waId)).toBe('delivered')
  await system.devnet.start('worker-2')
  await untilRead(contact, waId)
  await untilReadAt(messageId)
}, 90_000)

it('drops the request for a message without a usable address, and sends the next one', async () => {
  const contact = '15550920014'
  const [unusable, usable] = [await receive(contact), await receive(contact)]
  await system.database.$client`
    UPDATE messages SET number = '', recipient_jid = NULL WHERE id = ${unusable.messageId}`
  await gateway.call('mark-read', { message_id: unusable.messageId })
  await gateway.call('mark-read', { message_id: usable.messageId })
  await untilRead(contact, usable.waId)
  await until('no request is left', async () => {
    const requests = await system.database.$client`SELECT FROM read_requests`
    return requests.length === 0
  })
  const { body } = await gateway.call('message-status', { message_id: unusable.messageId })
  expect(body.read_at).toBeNull()
})
