import { setTimeout as delay } from 'node:timers/promises'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const sender = '15552009001'
const contact = '15552009002'
const dayMs = 86_400_000

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
  await deliver(contact, 'first contact')
}, 60_000)

afterAll(async () => {
  if (system) await system.database.$client`DROP TABLE IF EXISTS messages_long_ago`
  await system?.close()
}, 30_000)

const send = (number: string, message: string) => gateway.send(sender, number, message)
const deliver = (number: string, message: string) => gateway.deliver(sender, number, message)

const refuse = (number: string, code: string, count: number) =>
  gateway.control('/faults', { kind: 'ack_error', code, sender, number, count })

async function acksOf(waId: string): Promise<(string | null)[]> {
  return (await system.phones.log()).filter((entry) => entry.wa_message_id === waId).map(({ ack }) => ack)
}

describe('cancel-message', () => {
  it('has one winner when it races with the sending, message for message', async () => {
    const recipients = Array.from({ length: 10 }, (_, index) => `1555200910${index}`)
    const race = async (index: number) => {
      const id = await send(recipients[index % recipients.length] ?? contact, `race ${index}`)
      // One in ten comes too late for certain. The others are spread over the time that sending takes, so that cancels meet
      // messages at every step.
      if (index % 10 === 0) await gateway.untilStatus(id, 'delivered')
      else await delay((index * 7919) % 400)
      const { status, body } = await gateway.call('cancel-message', { message_id: id })
      if (status !== 200) expect({ status, code: body.code }).toEqual({ status: 409, code: 'not_cancelable' })
      return { id, isCanceled: status === 200 }
    }
    const raced = []
    // A slow machine gets no more at a time than the API can answer.
    for (let first = 0; first < 200; first += 50)
      raced.push(...(await Promise.all(Array.from({ length: 50 }, (_, index) => race(first + index)))))
    const canceled = raced.filter(({ isCanceled }) => isCanceled)
    const others = raced.filter(({ isCanceled }) => !isCanceled)
    expect(canceled.length).toBeGreaterThan(10)
    expect(others.length).toBeGreaterThan(10)

    const left = await Promise.all(others.map(({ id }) => gateway.untilStatus(id, 'delivered')))
    const seen = new Set((await system.phones.log()).map(({ wa_message_id }) => wa_message_id))
    expect(left.filter(({ wa_message_id }) => !seen.has(wa_message_id))).toEqual([])
    for (const { id } of canceled) {
      const { status, wa_message_id, sent_at } = await gateway.messageStatus(id)
      expect({ status, sent_at, isSeen: seen.has(wa_message_id) }).toEqual({
        status: 'canceled',
        sent_at: null,
        isSeen: false,
      })
    }
  })

  it('keeps a scheduled message from leaving', async () => {
    const soon = new Date(Date.now() + 1500).toISOString()
    const scheduled = await gateway.call('send-message', {
      sender,
      number: contact,
      message: 'x',
      send_at: soon,
    })
    const id = String(scheduled.body.message_id)
    expect(scheduled.body.status).toBe('scheduled')
    expect((await gateway.call('cancel-message', { message_id: id })).status).toBe(200)
    const also = await gateway.call('send-message', { sender, number: contact, message: 'y', send_at: soon })
    await gateway.untilStatus(String(also.body.message_id), 'delivered')
    expect(await acksOf((await gateway.messageStatus(id)).wa_message_id)).toEqual([])
  })
})

describe('a scheduled message', () => {
  it('that was accepted 32 days ago leaves once, and gets its acknowledgement and its receipts', async () => {
    const number = '15552009301'
    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await gateway.call('send-message', { sender, number, message: 'x', send_at: sendAt })
    const id = makeMessageId(sender, Date.now() - 32 * dayMs)
    await acceptAgo(32, { id: String(body.message_id), as: id })
    const { wa_message_id: waId } = await gateway.untilStatus(id, 'delivered')
    await gateway.control(`/chats/${number}/read`, { wa_message_id: waId })
    await gateway.untilStatus(id, 'read')
    // Only the poll finds this one: it would find the other one again.
    const soon = new Date(Date.now() + 1000).toISOString()
    const after = await gateway.call('send-message', { sender, number: contact, message: 'x', send_at: soon })
    await gateway.untilStatus(String(after.body.message_id), 'delivered')
    expect(await acksOf(waId)).toEqual(['ok'])
  })
})

/** Makes a message look as if it had been accepted that many days ago and were due now. */
async function acceptAgo(days: number, { id, as }: { id: string; as: string }): Promise<void> {
  const sql = system.database.$client
  const isoDay = (ago: number) => new Date(Date.now() - ago * dayMs).toISOString().slice(0, 10)
  await sql.unsafe(
    `CREATE TABLE messages_long_ago PARTITION OF messages FOR VALUES FROM ('${isoDay(days + 2)}') TO ('${isoDay(days - 2)}')`,
  )
  await sql`
    UPDATE messages SET id = ${as}, wa_id = ${whatsAppIdOf(as)}, send_at = now(),
      created_at = now() - ${days} * interval '1 day'
    WHERE id = ${id}`
}

describe('check-number', () => {
  it('says who is on WhatsApp', async () => {
    const missing = '15552009777'
    await gateway.control('/faults', { kind: 'not_on_whatsapp', number: missing })
    const check = async (number: string) => (await gateway.call('check-number', { sender, number })).body
    // It was written to before, which tells its LID.
    expect(await check(contact)).toEqual({
      ok: true,
      number: contact,
      lid: expect.stringMatching(/^\d+$/),
      exists: true,
      jid: `${contact}@s.whatsapp.net`,
    })
    expect(await check('15552009888')).toMatchObject({ exists: true })
    expect(await check(missing)).toEqual({ ok: true, number: missing, exists: false })
    const many = Array.from({ length: 40 }, (_, index) => `155520096${10 + index}`)
    expect((await Promise.all(many.map(check))).map(({ exists }) => exists)).toEqual(many.map(() => true))
  })

  it('asks WhatsApp once for a hundred numbers', async () => {
    const missing = '15552009599'
    await gateway.control('/faults', { kind: 'not_on_whatsapp', number: missing })
    const numbers = [...Array.from({ length: 98 }, (_, index) => `15552009${500 + index}`), 'x', missing]
    const { body } = await gateway.call('check-number', { sender, numbers })
    const results = body.results as { given: string; exists?: boolean; code?: string }[]
    expect(results.map(({ given, exists, code }) => [given, exists ?? code])).toEqual(
      numbers.map((number) => [number, { x: 'invalid_parameter', [missing]: false }[number] ?? true]),
    )
    const lookUps = (await system.phones.lookups()).filter(({ numbers }) => numbers.includes(missing))
    expect(lookUps.map(({ numbers }) => numbers.length)).toEqual([99])
  })
})

describe('a message that WhatsApp refuses', () => {
  it('with 479 goes once more, under its id, to the devices that the recipient has by now', async () => {
    const recipient = '15552009003'
    await deliver(recipient, 'to the phone alone')
    await gateway.link(recipient)
    await refuse(recipient, '479', 1)
    const message = await deliver(recipient, 'to the new companion as well')
    expect(await acksOf(message.wa_message_id)).toEqual(['479', 'ok'])
    await until('the new companion has it', async () =>
      (await gateway.history(`?sender=${recipient}`)).find(
        (record) => record.direction === 'in' && record.message === 'to the new companion as well',
      ),
    )
  })

  it('with 479 again fails', async () => {
    const recipient = '15552009004'
    await refuse(recipient, '479', 2)
    const failed = await gateway.untilStatus(await send(recipient, 'x'), 'failed')
    expect(failed.error_code).toBe('rejected_by_whatsapp')
    expect(await acksOf(failed.wa_message_id)).toEqual(['479', '479'])
  })

  it('with 463 fails at once, and other new contacts wait while known ones do not', async () => {
    const newcomers = Array.from({ length: 560 }, (_, index) => `1555031${1000 + index}`)
    const [refused = '', held = '', ...more] = newcomers
    await gateway.control(`/chats/${sender}/time-lock`, { seconds: 3600, notify: false })
    const failed = await gateway.untilStatus(await send(refused, 'x'), 'failed')
    expect(failed.error_code).toBe('sender_restricted')
    expect(await gateway.statusOf(sender)).toHaveProperty('restricted_until')
    await gateway.control(`/chats/${sender}/time-lock`, { seconds: 0, notify: false })

    const heldId = await send(held, 'for later')
    // More than an outbox reads ahead: they must not hide the known contact behind them.
    await Promise.all(more.map((number) => send(number, 'for later, too')))
    await deliver(contact, 'we know each other')
    expect((await gateway.messageStatus(heldId)).status).toBe('queued')

    const over = await endRestrictionIn('2 s')
    const later = await gateway.untilStatus(heldId, 'delivered')
    expect(Date.parse(later.sent_at ?? '')).toBeGreaterThanOrEqual(over)
    expect(await acksOf(failed.wa_message_id)).toEqual(['463'])
  })
})

/** The owner learns it with its next connection. Returns the moment in milliseconds. */
async function endRestrictionIn(interval: string): Promise<number> {
  const [row] = await system.database.$client<{ ms: number }[]>`
    UPDATE devices SET restricted_until = now() + ${interval}::interval WHERE sender = ${sender}
    RETURNING extract(epoch FROM restricted_until)::float8 * 1000 AS ms`
  await gateway.control('/faults', { kind: 'drop', sender })
  return row?.ms ?? Number.NaN
}

it('logged no phone number in full', () => {
  const logs = [...system.logs().values()]
  expect(logs.join('\n')).toContain('Device connected')
  expect(logs.filter((text) => /155503\d{5}/.test(text))).toEqual([])
})
