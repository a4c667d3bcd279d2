import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { type LogLine, makePhones, type Phones } from '@wagate/test-kit/load/phones'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ackTimeoutMs = 2000
const contact = '15550900099'

let devnet: Devnet
let database: Database
let gateway: ReturnType<typeof makeGatewayClient>
let phones: Phones
/** Takes requests and never answers. */
let silentHost: Server

beforeAll(async () => {
  silentHost = createServer(() => undefined).listen(0, '127.0.0.1')
  devnet = await startDevnet({
    workers: 1,
    shards: 4,
    environment: () => ({
      SEND_RATE_PER_MINUTE: '0',
      LIMIT_REQUESTS_PER_SECOND: '0',
      ALLOW_PRIVATE_MEDIA_HOSTS: 'true',
      SEND_ACK_TIMEOUT_MS: String(ackTimeoutMs),
    }),
  })
  gateway = makeGatewayClient(devnet)
  phones = makePhones(devnet.simulator?.controlUrl ?? '')
  database = openDatabase(devnet.databaseUrl, {
    poolSize: 1,
    applicationName: 'test',
    statementTimeoutMs: 30_000,
  })
}, 60_000)

afterAll(async () => {
  silentHost?.closeAllConnections()
  silentHost?.close()
  if (database) await closeDatabase(database)
  await devnet?.close()
}, 30_000)

async function send(sender: string, number: string): Promise<string> {
  const sent = await gateway.call('send-message', { sender, number, message: 'x' })
  expect(sent.status).toBe(200)
  return String(sent.body.message_id)
}

const deliver = async (sender: string, number: string) =>
  gateway.untilStatus(await send(sender, number), 'delivered')

async function linesOf(messageId: string): Promise<LogLine[]> {
  const { wa_message_id: waId } = await gateway.messageStatus(messageId)
  return (await phones.log()).filter((line) => line.wa_message_id === waId)
}

const acksOf = async (messageId: string) => (await linesOf(messageId)).map(({ ack }) => ack)

/** WhatsApp takes messages to this number and says nothing. */
async function silence(sender: string, number: string): Promise<void> {
  for (const kind of ['ack_drop', 'no_receipts']) await phones.fault({ kind, sender, number })
}

describe('messages that WhatsApp does not answer for', () => {
  it('leave places for others, and are sent again after longer and longer pauses', async () => {
    const sender = '15550900001'
    await gateway.link(sender)
    const silent = Array.from({ length: 12 }, (_, index) => `1555090010${index}`)
    for (const number of silent) await silence(sender, number)
    const ids = await Promise.all(silent.map((number) => send(sender, number)))
    await until('all of them were sent twice', { withinMs: 30_000, everyMs: 100 }, async () => {
      const attempts = await Promise.all(ids.map(linesOf))
      return attempts.every((lines) => lines.length > 1)
    })
    for (let round = 0; round < 10; round++) {
      const { created_at, sent_at } = (await deliver(sender, contact)) as unknown as Record<string, string>
      expect(Date.parse(sent_at ?? '') - Date.parse(created_at ?? '')).toBeLessThan(ackTimeoutMs)
    }
    await until('one was sent three times', { withinMs: 30_000, everyMs: 100 }, async () => {
      const [lines = []] = (await Promise.all(ids.map(linesOf))).filter(({ length }) => length > 2)
      const [first = 0, second = 0, third] = lines.map(({ t }) => Date.parse(t))
      return third !== undefined && third - second > second - first
    })
    await phones.clearFaults()
    await until('all arrive', { withinMs: 30_000, everyMs: 200 }, async () => {
      const states = await Promise.all(ids.map(gateway.messageStatus))
      return states.every(({ status }) => status === 'delivered')
    })
  }, 120_000)
})

describe('a message that makes WhatsApp end the connection', () => {
  it('lets the others go first, and fails after five connections that had worked', async () => {
    const sender = '15550900002'
    const number = '15550900200'
    await gateway.link(sender)
    await deliver(sender, contact)
    await phones.fault({ kind: 'no_receipts', sender, number })
    await phones.fault({ kind: 'stream_error', code: '500', sender, number, count: 1_000_000 })
    const loginsBefore = (await phones.logins()).length
    const poison = await send(sender, number)
    const others = await Promise.all([1, 2, 3, 4].map((n) => send(sender, `1555090021${n}`)))
    await Promise.all(others.map((id) => gateway.untilStatus(id, 'delivered')))
    const failed = await until('it has failed', { withinMs: 150_000, everyMs: 200 }, async () => {
      await deliver(sender, contact)
      const message = await gateway.messageStatus(poison)
      return message.status === 'failed' && message
    })
    expect(failed.error_code).toBe('message_ends_connection')
    const attempts = (await linesOf(poison)).length
    expect(attempts).toBeLessThan(10)
    expect((await phones.logins()).length - loginsBefore).toBeLessThanOrEqual(attempts + 2)
    await phones.clearFaults()
    await deliver(sender, number)
  }, 200_000)
})

describe('a connection that WhatsApp ends at the first message, whichever it is', () => {
  it('is opened again after longer and longer pauses', async () => {
    const sender = '15550900005'
    await gateway.link(sender)
    const listLogins = async () => (await phones.logins()).filter((login) => login.sender === sender)
    const before = (await listLogins()).length
    await phones.fault({ kind: 'no_receipts', sender })
    await phones.fault({ kind: 'stream_error', code: '500', sender, count: 1_000_000 })
    let sent = 0
    // The first pauses last for up to two seconds. Those that begin again with every login never last longer.
    await until('a pause is twice as long', { withinMs: 90_000, everyMs: 200 }, async () => {
      await send(sender, String(15_550_920_000 + sent++))
      const times = (await listLogins()).slice(before).map(({ t }) => Date.parse(t))
      return times.some((time, index) => time - (times[index - 1] ?? time) > 4000)
    })
    await phones.clearFaults()
    const last = await send(sender, contact)
    await until('it sends again', { withinMs: 60_000, everyMs: 200 }, async () => {
      return (await gateway.messageStatus(last)).status === 'delivered'
    })
  }, 180_000)
})

describe('an error in an acknowledgement', () => {
  it.each(['408', '429', '500', '503'])(
    'is temporary with %s: the message is sent again under its id',
    async (code) => {
      const sender = '15550900003'
      const number = `15550900${code}`
      if ((await gateway.statusOf(sender)).status !== 'connected') await gateway.link(sender)
      await phones.fault({ kind: 'ack_error', code, sender, number, count: 2 })
      const id = await send(sender, number)
      await gateway.untilStatus(id, 'delivered')
      expect(await acksOf(id)).toEqual([code, code, 'ok'])
    },
  )

  it.each(['400', '404', '406'])('is final with %s', async (code) => {
    const sender = '15550900003'
    const number = `15550900${code}`
    if ((await gateway.statusOf(sender)).status !== 'connected') await gateway.link(sender)
    await phones.fault({ kind: 'ack_error', code, sender, number })
    const id = await send(sender, number)
    expect(await gateway.untilStatus(id, 'failed')).toMatchObject({ error_code: 'rejected_by_whatsapp' })
    expect(await acksOf(id)).toEqual([code])
  })
})

describe('with ten thousand of each waiting', () => {
  it('a text to a known contact leaves within a second of slow media, unanswered look-ups and a long queue', async () => {
    const sender = '15550900004'
    const longQueue = '15550900401'
    await gateway.link(sender)
    for (const number of [contact, longQueue]) await deliver(sender, number)
    await phones.fault({ kind: 'ack_drop', sender, number: longQueue })
    await phones.fault({ kind: 'no_receipts', sender, number: longQueue })
    await phones.fault({ kind: 'lookup_omit', sender })
    const { port } = silentHost.address() as AddressInfo
    const numbers = Array.from({ length: 10_000 }, (_, index) => String(15_551_000_000 + index))
    await insertQueued(
      sender,
      numbers.map((number) => ({ number, type: 'image', url: `http://127.0.0.1:${port}/` })),
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
    await deliver(sender, contact)
    for (let round = 0; round < 5; round++) {
      const { created_at, sent_at } = (await deliver(sender, contact)) as unknown as Record<string, string>
      expect(Date.parse(sent_at ?? '') - Date.parse(created_at ?? '')).toBeLessThan(1000)
    }
  }, 120_000)
})

/** As the API would have accepted them, without 10,000 requests. */
async function insertQueued(
  sender: string,
  messages: { number: string; type: 'text' | 'image'; url?: string }[],
): Promise<void> {
  const sql = database.$client
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
