import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import type { GatewayClient, MessageRecord } from '@wagate/test-kit/gateway-client'
import type { LogLine } from '@wagate/test-kit/load/phones'
import { openSilentHost, type SilentHost } from '@wagate/test-kit/media/silent-host'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ackTimeoutMs = 2000
const contact = '15552023099'
const idle = '15552023098'

let system: TestSystem
let gateway: GatewayClient
let silentHost: SilentHost

beforeAll(async () => {
  silentHost = await openSilentHost()
  system = await openTestSystem({
    workers: 1,
    environment: { SEND_ACK_TIMEOUT_MS: String(ackTimeoutMs) },
  })
  gateway = system.gateway
  await gateway.link(idle)
  await gateway.deliver(idle, contact)
}, 60_000)

afterAll(async () => {
  silentHost?.close()
  await system?.close()
}, 30_000)

async function linesOf(messageId: string): Promise<LogLine[]> {
  const { wa_message_id: waId } = await gateway.messageStatus(messageId)
  return (await system.phones.log()).filter((line) => line.wa_message_id === waId)
}

const acksOf = async (messageId: string) => (await linesOf(messageId)).map(({ ack }) => ack)

/** How many ms later a text to a known contact leaves than one of a sender that has nothing else to do. */
async function delayOf(sender: string): Promise<number> {
  const [delayed = 0, usual = 0] = await Promise.all(
    [sender, idle].map(async (each) => {
      const { created_at, sent_at } = (await gateway.deliver(each, contact)) as MessageRecord & {
        created_at: string
      }
      return Date.parse(sent_at ?? '') - Date.parse(created_at)
    }),
  )
  return delayed - usual
}

const loginsOf = async (sender: string) =>
  (await system.phones.logins()).filter((login) => login.sender === sender)

/** WhatsApp takes messages to this number and says nothing. */
async function silence(sender: string, number: string): Promise<void> {
  for (const kind of ['ack_drop', 'no_receipts']) await system.phones.fault({ kind, sender, number })
}

// The cases wait for pauses of the gateway, each with a sender of its own.
describe.concurrent('messages that WhatsApp does not answer for', () => {
  it('leave places for others, and are sent again after longer and longer pauses', async ({ expect }) => {
    const sender = '15552023001'
    await gateway.link(sender)
    const silent = Array.from({ length: 12 }, (_, index) => `1555202310${index}`)
    for (const number of silent) await silence(sender, number)
    const ids = await Promise.all(silent.map((number) => gateway.send(sender, number)))
    await until('all of them were sent twice', { withinMs: 30_000, everyMs: 100 }, async () => {
      const attempts = await Promise.all(ids.map(linesOf))
      return attempts.every((lines) => lines.length > 1)
    })
    for (let round = 0; round < 10; round++) {
      expect(await delayOf(sender)).toBeLessThan(ackTimeoutMs)
    }
    await until('one was sent three times', { withinMs: 30_000, everyMs: 100 }, async () => {
      return (await Promise.all(ids.map(linesOf))).some((lines) => {
        const [first = 0, second = 0, third] = lines.map(({ t }) => Date.parse(t))
        return third !== undefined && third - second > second - first
      })
    })
    await system.phones.clearFaultsOf(sender)
    await until('all arrive', { withinMs: 30_000, everyMs: 200 }, async () => {
      const states = await Promise.all(ids.map(gateway.messageStatus))
      return states.every(({ status }) => status === 'delivered')
    })
  }, 120_000)
})

describe.concurrent('a message that makes WhatsApp end the connection', () => {
  it('lets the others go first, and fails after five connections that had worked', async ({ expect }) => {
    const sender = '15552023002'
    const number = '15552023200'
    await gateway.link(sender)
    await gateway.deliver(sender, contact)
    await system.phones.fault({ kind: 'no_receipts', sender, number })
    await system.phones.fault({ kind: 'stream_error', code: '500', sender, number, count: 1_000_000 })
    const loginsBefore = (await loginsOf(sender)).length
    const poison = await gateway.send(sender, number)
    const others = await Promise.all([1, 2, 3, 4].map((n) => gateway.send(sender, `1555202321${n}`)))
    await Promise.all(others.map((id) => gateway.untilStatus(id, 'delivered')))
    const failed = await until('it has failed', { withinMs: 150_000, everyMs: 200 }, async () => {
      await gateway.deliver(sender, contact)
      const message = await gateway.messageStatus(poison)
      return message.status === 'failed' && message
    })
    expect(failed.error_code).toBe('message_ends_connection')
    const attempts = (await linesOf(poison)).length
    expect(attempts).toBeLessThan(10)
    expect((await loginsOf(sender)).length - loginsBefore).toBeLessThanOrEqual(attempts + 2)
    await system.phones.clearFaultsOf(sender)
    await gateway.deliver(sender, number)
  }, 200_000)
})

describe.concurrent('a connection that WhatsApp ends at any first message', () => {
  it('is opened again after longer and longer pauses', async () => {
    const sender = '15552023005'
    await gateway.link(sender)
    const before = (await loginsOf(sender)).length
    await system.phones.fault({ kind: 'no_receipts', sender })
    await system.phones.fault({ kind: 'stream_error', code: '500', sender, count: 1_000_000 })
    let sent = 0
    // The first pauses last for up to two seconds. Those that begin again with every login never last longer.
    await until('a pause is twice as long', { withinMs: 90_000, everyMs: 200 }, async () => {
      await gateway.send(sender, String(15_550_920_000 + sent++))
      const times = (await loginsOf(sender)).slice(before).map(({ t }) => Date.parse(t))
      return times.some((time, index) => time - (times[index - 1] ?? time) > 4000)
    })
    await system.phones.clearFaultsOf(sender)
    const last = await gateway.send(sender, contact)
    await until('it sends again', { withinMs: 60_000, everyMs: 200 }, async () => {
      return (await gateway.messageStatus(last)).status === 'delivered'
    })
  }, 180_000)
})

describe.concurrent('an error in an acknowledgement', () => {
  const sender = '15552023003'
  beforeAll(() => gateway.link(sender))

  it('is temporary with 408, 429, 500 and 503: the message is sent again under its id', async ({
    expect,
  }) => {
    await Promise.all(
      ['408', '429', '500', '503'].map(async (code) => {
        const number = `15552023${code}`
        await system.phones.fault({ kind: 'ack_error', code, sender, number, count: 2 })
        const id = await gateway.send(sender, number)
        await gateway.untilStatus(id, 'delivered')
        expect(await acksOf(id)).toEqual([code, code, 'ok'])
      }),
    )
  })

  it.for(['400', '404', '406', '499'])('is final with %s', async (code, { expect }) => {
    const number = `15552023${code}`
    await system.phones.fault({ kind: 'ack_error', code, sender, number })
    const id = await gateway.send(sender, number)
    expect(await gateway.untilStatus(id, 'failed')).toMatchObject({ error_code: 'rejected_by_whatsapp' })
    expect(await acksOf(id)).toEqual([code])
  })
})

describe('with ten thousand of each waiting', () => {
  it('a text to a known contact leaves within a second of slow media, unanswered look-ups and a long queue', async () => {
    const sender = '15552023004'
    const longQueue = '15552023401'
    await gateway.link(sender)
    for (const number of [contact, longQueue]) await gateway.deliver(sender, number)
    await system.phones.fault({ kind: 'ack_drop', sender, number: longQueue })
    await system.phones.fault({ kind: 'no_receipts', sender, number: longQueue })
    await system.phones.fault({ kind: 'lookup_omit', sender })
    const numbers = Array.from({ length: 10_000 }, (_, index) => String(15_551_000_000 + index))
    await insertQueued(
      sender,
      numbers.map((number) => ({ number, type: 'image', url: silentHost.url })),
    )
    await insertQueued(
      sender,
      numbers.map((number) => ({ number: `9${number.slice(1)}`, type: 'text' })),
    )
    await insertQueued(
      sender,
      numbers.map(() => ({ number: longQueue, type: 'text' })),
    )
    // It comes behind all of them.
    await gateway.deliver(sender, contact)
    for (let round = 0; round < 5; round++) {
      expect(await delayOf(sender)).toBeLessThan(1000)
    }
  }, 120_000)
})

/** As the API would have accepted them, without 10,000 requests. */
async function insertQueued(
  sender: string,
  messages: { number: string; type: 'text' | 'image'; url?: string }[],
): Promise<void> {
  const sql = system.database.$client
  const ids = messages.map(() => makeMessageId(sender))
  await sql`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, url, status, wa_id, link_generation)
    SELECT given.id, device.account_id, device.id, 'out', given.type, device.sender, given.number, 'x', given.url,
      'queued', given.wa_id, device.link_generation
    FROM devices AS device, unnest(
      ${ids}::uuid[], ${ids.map(whatsAppIdOf)}::text[], ${messages.map(({ number }) => number)}::text[],
      ${messages.map(({ type }) => type)}::text[], ${messages.map(({ url }) => url ?? null)}::text[]
    ) WITH ORDINALITY AS given (id, wa_id, number, type, url, position)
    WHERE device.sender = ${sender} AND device.deleted_at IS NULL ORDER BY position`
}
