import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const hour = 3600

let system: TestSystem
let gateway: GatewayClient
let senders = 0
let strangers = 0

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
}, 60_000)

afterAll(() => system?.close(), 30_000)

/** Linked, with one contact. */
const it = test.extend('sender', async () => {
  senders += 1
  const sender = `155520040${10 + senders}`
  await gateway.link(sender)
  await gateway.deliver(sender, contactOf(sender))
  return sender
})

const contactOf = (sender: string) => sender.replace(/40(..)$/, '41$1')

/** A number that the sender has never exchanged a message with. */
function stranger(): string {
  strangers += 1
  return `155507${20_000 + strangers}`
}

async function acksOf(messageId: string) {
  const { wa_message_id: waId } = await gateway.messageStatus(messageId)
  return (await system.phones.log()).filter((entry) => entry.wa_message_id === waId).map(({ ack }) => ack)
}

const timeLock = (sender: string, seconds: number, more = {}) =>
  gateway.control(`/chats/${sender}/time-lock`, { seconds, ...more })
const newChatCap = (sender: string, total: number, more = {}) =>
  gateway.control(`/chats/${sender}/new-chat-cap`, { total, seconds: hour, ...more })
const refuseFirst = (sender: string, number: string) =>
  system.phones.fault({ kind: 'first_contact_error', code: '463', sender, number })

const untilRestricted = (sender: string, reason: string | undefined) =>
  until(`the restriction is ${reason}`, async () => {
    const device = await gateway.statusOf(sender)
    return device.restriction_reason === reason && device
  })

/** A message to a stranger waits: it is still queued when a later one to a contact has arrived. */
async function expectWaiting(sender: string, messageId: string): Promise<void> {
  await gateway.deliver(sender, contactOf(sender))
  expect((await gateway.messageStatus(messageId)).status).toBe('queued')
  expect(await acksOf(messageId)).toEqual([])
}

async function untilFailed(messageId: string) {
  return (await gateway.untilStatus(messageId, 'failed')).error_code
}

describe('under a time-lock', () => {
  it('a refused first message fails, new contacts wait until its end, and WhatsApp is asked once', async ({
    sender,
  }) => {
    const { new_chat_queries: before } = await system.phones.stats()
    const fromMs = Date.now() + hour * 1000
    await timeLock(sender, hour, { notify: false })
    const toMs = Date.now() + hour * 1000
    const ids = await Promise.all(
      [stranger(), stranger(), stranger(), stranger()].map((number) => gateway.send(sender, number)),
    )
    const refused = await until('one is refused', async () => {
      for (const id of ids) if ((await gateway.messageStatus(id)).status === 'failed') return id
      return undefined
    })
    expect((await gateway.messageStatus(refused)).error_code).toBe('sender_restricted')
    const device = await untilRestricted(sender, 'reach_out_time_lock')
    const endMs = Date.parse(String(device.restricted_until))
    expect(endMs).toBeGreaterThan(fromMs - 60_000)
    expect(endMs).toBeLessThan(toMs + 60_000)

    const held = await gateway.send(sender, stranger())
    await expectWaiting(sender, held)
    for (const id of ids) expect(['queued', 'failed']).toContain((await gateway.messageStatus(id)).status)
    expect((await system.phones.stats()).new_chat_queries).toBe(before + 1)

    await timeLock(sender, 0)
    await gateway.untilStatus(held, 'delivered')
    expect(await gateway.statusOf(sender)).not.toHaveProperty('restricted_until')
    expect(await acksOf(refused)).toEqual(['463'])
  })

  it('new contacts wait before any refusal once WhatsApp has announced it, also for the next owner', async ({
    sender,
  }) => {
    await timeLock(sender, hour, { type: 'A_TYPE_OF_TOMORROW' })
    await untilRestricted(sender, 'reach_out_time_lock')
    const held = await gateway.send(sender, stranger())
    await expectWaiting(sender, held)

    await system.devnet.stop('worker-1')
    await system.devnet.start('worker-1')
    await expectWaiting(sender, held)
    expect(await gateway.statusOf(sender)).toMatchObject({ restriction_reason: 'reach_out_time_lock' })

    await timeLock(sender, 0)
    await gateway.untilStatus(held, 'delivered')
    expect(await acksOf(held)).toEqual(['ok'])
  }, 60_000)
})

describe('without a time-lock', () => {
  it('only the messages that were refused fail, and other new contacts are written to', async ({
    sender,
  }) => {
    const { new_chat_queries: before } = await system.phones.stats()
    const numbers = [stranger(), stranger(), stranger()]
    await Promise.all(numbers.map((number) => refuseFirst(sender, number)))
    const refused = await Promise.all(numbers.map((number) => gateway.send(sender, number)))
    for (const id of refused) expect(await untilFailed(id)).toBe('first_contact_refused')
    await gateway.deliver(sender, stranger())
    expect(await gateway.statusOf(sender)).not.toHaveProperty('restricted_until')
    expect((await Promise.all(refused.map(acksOf))).flat()).toEqual(['463', '463', '463'])
    expect((await system.phones.stats()).new_chat_queries).toBe(before + 1)
  })
})

// These neither count questions nor restart the worker, so they run side by side.
describe.concurrent('under a time-lock', () => {
  it('a contact that wrote, or gave its privacy token, is not a new one', async ({ sender }) => {
    await timeLock(sender, hour)
    await untilRestricted(sender, 'reach_out_time_lock')
    const [writer, giver] = [stranger(), stranger()]
    const [other, toWriter, toGiver] = [
      await gateway.send(sender, stranger()),
      await gateway.send(sender, writer),
      await gateway.send(sender, giver),
    ]
    await gateway.control(`/chats/${writer}/send`, { to: sender, text: 'hello' })
    await gateway.control(`/chats/${giver}/token`, { to: sender })
    await gateway.untilStatus(toWriter, 'delivered')
    await gateway.untilStatus(toGiver, 'delivered')
    await expectWaiting(sender, other)
  })

  it('further messages to the contact that was refused wait as well', async ({ sender }) => {
    await timeLock(sender, hour, { notify: false })
    const number = stranger()
    const [first = '', ...others] = await Promise.all(
      [number, number, number].map((number) => gateway.send(sender, number)),
    )
    const ids = [first, ...others]
    await untilRestricted(sender, 'reach_out_time_lock')
    await gateway.deliver(sender, contactOf(sender))
    const acks = (await Promise.all(ids.map(acksOf))).flat()
    expect(acks).toEqual(['463'])
  })
})

/** What keeps the gateway from learning whether there is a time-lock. */
const unanswered: [string, { kind: string; code?: string }][] = [
  ['WhatsApp does not answer the question', { kind: 'new_chat_query_omit' }],
  ['WhatsApp refuses the question', { kind: 'new_chat_query_error', code: '500' }],
]

describe.concurrent('without an answer about a time-lock', () => {
  it.for(unanswered)('new contacts wait for a while when %s', async ([, fault], { sender }) => {
    const number = stranger()
    await system.phones.fault({ ...fault, sender })
    await refuseFirst(sender, number)
    expect(await untilFailed(await gateway.send(sender, number))).toBe('sender_restricted')
    await untilRestricted(sender, 'unconfirmed')
    await expectWaiting(sender, await gateway.send(sender, stranger()))
    const text = await system.metricsOf('worker-1')
    expect(text).toMatch(/^wagate_restricted_devices\{reason="unconfirmed"\} [1-9]/m)
    expect(text).toMatch(/^wagate_refusals_total\{code="463"\} [1-9]/m)
    expect(text).toMatch(/^wagate_restrictions_total\{reason="unconfirmed"\} [1-9]/m)
  })
})

describe.concurrent('a cap of new chats', () => {
  it('that is used up makes new contacts wait, and shows its count', async ({ sender }) => {
    await newChatCap(sender, 2, { notify: false })
    for (let count = 1; count <= 2; count++) await gateway.deliver(sender, stranger())
    const refused = await gateway.send(sender, stranger())
    expect(await untilFailed(refused)).toBe('sender_restricted')
    expect(await untilRestricted(sender, 'new_chat_cap')).toMatchObject({
      restricted_until: expect.any(String),
      new_chats_used: 2,
      new_chats_total: 2,
    })
    const held = await gateway.send(sender, stranger())
    await expectWaiting(sender, held)
    // The next cycle.
    await newChatCap(sender, 9)
    await gateway.untilStatus(held, 'delivered')
    expect(await gateway.statusOf(sender)).toMatchObject({ new_chats_total: 9 })
    expect(await gateway.statusOf(sender)).not.toHaveProperty('restricted_until')
    expect(await acksOf(refused)).toEqual(['475'])
  })

  it('of which WhatsApp says nothing makes new contacts wait for a while', async ({ sender }) => {
    const number = stranger()
    await system.phones.fault({ kind: 'first_contact_error', code: '475', sender, number })
    expect(await untilFailed(await gateway.send(sender, number))).toBe('sender_restricted')
    const device = await untilRestricted(sender, 'new_chat_cap')
    expect(device).not.toHaveProperty('new_chats_used')
    await expectWaiting(sender, await gateway.send(sender, stranger()))
  })
})
