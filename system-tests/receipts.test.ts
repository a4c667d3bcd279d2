import type { EventObject } from '@wagate/shared/objects/event-object'
import type { GatewayClient, MessageRecord } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type PhoneState = { number: string; companions: { pending: number }[] }

const sender = '15552017001'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

const send = (number: string) => gateway.deliver(sender, number, 'hello')

const claim = (
  number: string,
  { wa_message_id }: MessageRecord,
  type: 'read' | 'played' | 'retry',
  by?: { device: number; as: string },
) => gateway.control(`/chats/${number}/receipt`, { to: sender, wa_message_id, type, ...by })

const untilAcknowledged = (of = sender) =>
  until('the receipts are acknowledged', async () => {
    const phones = await gateway.control<PhoneState[]>('/phones')
    return phones.find(({ number }) => number === of)?.companions.every(({ pending }) => pending === 0)
  })

/** The devices of the recipient to which each copy of the message went. */
async function copiesOf({ wa_message_id }: MessageRecord): Promise<number[][]> {
  const log = await system.phones.log()
  const copies = log.filter((logged) => logged.wa_message_id === wa_message_id)
  return copies.map(({ devices = [] }) => devices.toSorted((one, other) => one - other))
}

const duplicatesOn = async (number: string) => (await gateway.phone(number, sender))[0]?.duplicates

it('believes receipts of the recipient only, and sends the message again to no other', async () => {
  const [recipient, stranger] = ['15552017011', '15552017012']
  const message = await send(recipient)
  await claim(stranger, message, 'read')
  await claim(stranger, message, 'retry')
  await untilAcknowledged()
  expect((await gateway.messageStatus(message.message_id)).status).toBe('delivered')
  expect(await gateway.phone(stranger)).toEqual([])
  await claim(recipient, message, 'read')
  await gateway.untilStatus(message.message_id, 'read')
})

it('records that a recipient has played a message, which is then also read', async () => {
  const recipient = '15552017014'
  const { message_id, ...message } = await send(recipient)
  await claim(recipient, { message_id, ...message }, 'played')
  await gateway.untilStatus(message_id, 'read')
  const { body } = await gateway.call('message-status', { message_id })
  expect(body.played_at).toBe(body.read_at)
  await claim(recipient, { message_id, ...message }, 'read')
  await untilAcknowledged()
  // Any transaction on this Postgres, also of another file, defers when an event can be read.
  const types = await until('both events can be read', async () => {
    const { events } = (await gateway.get('events')).body as { events: EventObject[] }
    const found = events.filter(({ data }) => data.message_id === message_id).map(({ type }) => type)
    return found.includes('message.played') && found
  })
  expect(types.slice(-2)).toEqual(['message.read', 'message.played'])
})

it('believes the recipient of a message also when a crash of Postgres has undone its claim', async () => {
  const recipient = '15552017013'
  const message = await send(recipient)
  await system.database.$client`UPDATE messages SET recipient_jid = NULL WHERE id = ${message.message_id}`
  await claim(recipient, message, 'read')
  await gateway.untilStatus(message.message_id, 'read')
})

it('sends a message five times again to a recipient who cannot read it, also after a restart', async () => {
  const recipient = '15552017021'
  const message = await send(recipient)
  await system.devnet.stop('worker-1')
  await system.devnet.start('worker-2')
  for (let count = 1; count <= 5; count++) {
    await untilAcknowledged()
    await claim(recipient, message, 'retry')
    await until(`it came ${count} times again`, async () => (await duplicatesOn(recipient)) === count)
  }
  await untilAcknowledged()
  await claim(recipient, message, 'retry')
  await untilAcknowledged()
  expect(await duplicatesOn(recipient)).toBe(5)
  // With it, the recipient's reactions and the edits of the sender are encrypted, whichever copy either saw.
  const { unknown } = await gateway.control<{ unknown: Record<string, number> }>('/stats')
  expect(unknown).not.toHaveProperty('resend with another message secret')
}, 90_000)

it.each(['pn', 'lid'])(
  'sends a message again to the one companion that asks, from its %s',
  async (as) => {
    const recipient = as === 'pn' ? '15552017041' : '15552017042'
    const owners = [await system.createAccount(), await system.createAccount(), await system.createAccount()]
    for (const owner of owners) await owner.link(recipient)
    const message = await send(recipient)
    expect(await copiesOf(message)).toEqual([[0, 1, 2, 3]])
    await claim(recipient, message, 'retry', { device: 3, as })
    await until('there is another copy', async () => (await copiesOf(message)).length > 1)
    await untilAcknowledged()
    await untilAcknowledged(recipient)
    expect(await copiesOf(message)).toEqual([[0, 1, 2, 3], [3]])
  },
  60_000,
)

it('does not report a message as sent before WhatsApp named a device of its recipient', async () => {
  const recipient = '15552017031'
  await gateway.control('/faults', { kind: 'devices_omit', number: recipient, count: 3 })
  const message = await send(recipient)
  const [onPhone] = await gateway.phone(recipient, sender)
  expect(onPhone).toMatchObject({ wa_message_id: message.wa_message_id, duplicates: 0 })
})
