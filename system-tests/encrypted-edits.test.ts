import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type Fields = Record<string, unknown>
type Event = { type: string; data: Fields & { message?: Fields | null } }

const [sender, contact] = ['15552084201', '15552084202']
let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

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
