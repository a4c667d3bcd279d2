import type { GatewayClient, MessageRecord } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const sender = '15552001001'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

async function send(number: string, message: string): Promise<string> {
  const sent = await gateway.call('send-message', { sender, number, message })
  return String(sent.body.message_id)
}

async function deliver(number: string, message: string): Promise<MessageRecord> {
  return gateway.untilStatus(await send(number, message), 'delivered')
}

async function acksOf({ wa_message_id: waId }: MessageRecord) {
  return (await system.phones.log()).filter((entry) => entry.wa_message_id === waId).map(({ ack }) => ack)
}

/** WhatsApp tells the sender of a new device of the recipient, unless that is lost. */
async function linkUnannounced(recipient: string): Promise<void> {
  await system.phones.fault({ kind: 'changes_omit', number: recipient })
  await gateway.link(recipient)
}

type Gateway = Pick<GatewayClient, 'history'>

/** What the companion of a recipient has received, oldest first. */
async function receivedBy(recipient: string, account: Gateway = gateway): Promise<(string | null)[]> {
  const records = await account.history(`?sender=${recipient}`)
  return records
    .filter(({ direction }) => direction === 'in')
    .map(({ message }) => message)
    .reverse()
}

const untilReceived = (recipient: string, texts: string[], account?: Gateway) =>
  until(`the companion of ${recipient} has received ${texts}`, async () => {
    const received = await receivedBy(recipient, account)
    return texts.every((text) => received.includes(text)) && received
  })

describe('the devices of a recipient', () => {
  it('are asked for again when an acknowledgement says that the message missed one', async () => {
    const recipient = '15552001011'
    await deliver(recipient, 'before')
    await linkUnannounced(recipient)
    const { device_lookups: before } = await system.phones.stats()
    const first = await deliver(recipient, 'one')
    for (const text of ['two', 'three']) await deliver(recipient, text)
    await untilReceived(recipient, ['two', 'three'])
    expect(await acksOf(first)).toEqual(['ok'])
    // Those of the recipient and of the sender, once.
    expect((await system.phones.stats()).device_lookups).toBe(before + 2)
  })

  it('are asked for again when an acknowledgement says that its addresses have changed', async () => {
    const recipient = '15552001012'
    await deliver(recipient, 'before')
    await system.phones.fault({ kind: 'refresh_lid', sender, number: recipient, count: 1 })
    const { device_lookups: before } = await system.phones.stats()
    const first = await deliver(recipient, 'one')
    expect((await system.phones.stats()).device_lookups).toBe(before)
    for (const text of ['two', 'three']) await deliver(recipient, text)
    expect((await system.phones.stats()).device_lookups).toBe(before + 2)
    expect(await acksOf(first)).toEqual(['ok'])
  })

  it('are asked for once when a message is refused with 421, and it goes to all of them under its id', async () => {
    const recipient = '15552001013'
    await deliver(recipient, 'before')
    await linkUnannounced(recipient)
    await system.phones.fault({ kind: 'ack_error', code: '421', sender, number: recipient, count: 1 })
    const message = await deliver(recipient, 'one')
    await untilReceived(recipient, ['one'])
    expect(await acksOf(message)).toEqual(['421', 'ok'])

    await system.phones.fault({ kind: 'ack_error', code: '421', sender, number: recipient, count: 2 })
    const failed = await gateway.untilStatus(await send(recipient, 'two'), 'failed')
    expect(failed.error_code).toBe('rejected_by_whatsapp')
    expect(await acksOf(failed)).toEqual(['421', '421'])
  })
})

describe('a message that one device of the recipient cannot decrypt', () => {
  it('is sent again under its id to a phone that has lost its session', async () => {
    const recipient = '15552001021'
    await deliver(recipient, 'before')
    await gateway.control(`/chats/${recipient}/send`, { to: sender, text: 'an answer' })
    await until('the answer is here', async () => (await receivedBy(sender)).includes('an answer'))
    await gateway.control(`/chats/${recipient}/forget`, { from: sender })
    const { undecryptable } = await system.phones.stats()
    const message = await deliver(recipient, 'after')
    expect((await system.phones.stats()).undecryptable).toBe(undecryptable + 1)
    const onPhone = (await gateway.phone(recipient, sender)).find(({ text }) => text === 'after')
    expect(onPhone).toMatchObject({ wa_message_id: message.wa_message_id, duplicates: 0 })
  })

  it('is sent again to that companion alone, of three devices', async () => {
    const recipient = '15552001022'
    const other = await system.createAccount()
    await gateway.link(recipient)
    await other.link(recipient)
    await deliver(recipient, 'before')
    await Promise.all([untilReceived(recipient, ['before']), untilReceived(recipient, ['before'], other)])

    await system.devnet.stop('worker-1')
    await loseSessions(Number((await other.statusOf(recipient)).device_id))
    await system.devnet.start('worker-1')
    const message = await deliver(recipient, 'after')
    await Promise.all([untilReceived(recipient, ['after']), untilReceived(recipient, ['after'], other)])
    expect(await acksOf(message)).toEqual(['ok', 'ok'])
    const onPhone = (await gateway.phone(recipient, sender)).filter(({ text }) => text === 'after')
    expect(onPhone).toMatchObject([{ duplicates: 0 }])
  }, 60_000)
})

async function loseSessions(deviceId: number): Promise<void> {
  const lost = await system.database.$client`
    DELETE FROM device_auth WHERE device_id = ${deviceId} AND type = 'session' RETURNING id`
  expect(lost.length).toBeGreaterThan(0)
}
