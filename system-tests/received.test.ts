import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { whileLocked } from '@wagate/test-kit/servers/while-locked'
import { shortLease } from '@wagate/test-kit/short-lease'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

type PhoneState = { number: string; companions: { connected: boolean; pending: number; sent: number }[] }

/** A machine that runs other tests as well needs a while for hundreds of messages. */
const untilFact = (what: string, isSo: () => Promise<boolean>) =>
  until(what, { withinMs: 60_000, everyMs: 100 }, isSo)

let system: TestSystem
let gateway: GatewayClient
/** Between the workers and Postgres. */
const links: TcpProxy[] = []

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    shards: 16,
    environment: shortLease,
    async proxyFor(name, url) {
      if (!name.startsWith('worker') || !url.startsWith('postgres')) return url
      const link = await startTcpProxy(url)
      links.push(link)
      return link.url
    },
  })
  gateway = system.gateway
}, 60_000)

afterAll(async () => {
  await system?.close()
  for (const link of links) await link.close()
}, 30_000)

const write = (from: string, to: string, text: string) => gateway.control(`/chats/${from}/send`, { to, text })

const writeMany = (from: string, to: string, texts: string[]) =>
  system.phones.writeMany(texts.map((text) => ({ from, to, text })))

/** What contacts wrote to this sender, as the database has it. */
async function listReceived(sender: string): Promise<{ number: string; body: string | null }[]> {
  return system.database.$client`
    SELECT number, body FROM messages WHERE sender = ${sender} AND direction = 'in' ORDER BY number, seq`
}

async function textsFrom(sender: string): Promise<(string | null)[]> {
  return (await listReceived(sender)).map(({ body }) => body)
}

/** Stanzas that WhatsApp still has to deliver to this sender: it has not acknowledged them. */
async function countPending(sender: string): Promise<number> {
  return (await listCompanions(sender)).reduce((sum, { pending }) => sum + pending, 0)
}

async function listCompanions(sender: string): Promise<PhoneState['companions']> {
  const phones = await gateway.control<PhoneState[]>('/phones')
  return phones.find(({ number }) => number === sender)?.companions ?? []
}

async function sendAndDeliver(sender: string, recipients: string[]): Promise<void> {
  await Promise.all(recipients.map((number) => gateway.send(sender, number, 'hello')))
  await untilFact(
    'all are delivered',
    async () => (await countWith(sender, 'delivered')) === recipients.length,
  )
}

async function countWith(sender: string, status: string): Promise<number> {
  const [row] = await system.database.$client<{ count: number }[]>`
    SELECT count(*)::int FROM messages WHERE sender = ${sender} AND direction = 'out' AND status = ${status}`
  return row?.count ?? 0
}

async function readAll(sender: string, recipients: string[]): Promise<void> {
  for (const recipient of recipients) {
    for (const { wa_message_id } of await gateway.phone(recipient, sender)) {
      await gateway.control(`/chats/${recipient}/read`, { wa_message_id })
    }
  }
}

const numbers = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`)

describe.concurrent('a sender', () => {
  it('stores what came while a sender was offline, also beside texts that the database refuses', async ({
    expect,
  }) => {
    const sender = '15552019001'
    const texts = ['first', 'nul \0 inside', 'third', 'half a pair \ud83d', 'fifth']
    await gateway.link(sender)
    const bringBack = await system.phones.keepOffline(sender)
    for (const [index, text] of texts.entries()) await write(`1555201901${index}`, sender, text)
    await bringBack()
    await untilFact('all five are stored', async () => (await listReceived(sender)).length === 5)
    expect(await textsFrom(sender)).toEqual(['first', 'nul  inside', 'third', 'half a pair \ufffd', 'fifth'])
  })

  it('acknowledges every message besides its receipt, as WhatsApp demands', async ({ expect }) => {
    const sender = '15552019002'
    await gateway.link(sender)
    await gateway.control('/faults', { kind: 'ack_required', sender, ms: 5000 })
    for (const number of numbers('15550602', 10)) await write(number, sender, 'from a contact')
    // Its own phone tells the sender what it writes itself.
    await write(sender, '15550602999', 'from the own phone')
    await untilFact('nothing is left to acknowledge', async () => (await countPending(sender)) === 0)
    expect((await textsFrom(sender)).length).toBe(10)
  })

  it('takes what waited for it also from a server that sends it in parts', async ({ expect }) => {
    const sender = '15552019003'
    const texts = numbers('text ', 230)
    await gateway.link(sender)
    await gateway.control('/faults', { kind: 'offline_parts', sender })
    const bringBack = await system.phones.keepOffline(sender)
    await writeMany('15550603001', sender, texts)
    await bringBack()
    await untilFact('all are stored', async () => (await listReceived(sender)).length === 230)
    await untilFact('all are acknowledged', async () => (await countPending(sender)) === 0)
    expect(await textsFrom(sender)).toEqual(texts)
  })
})

describe('messages before and after a login, of which none is stored yet', () => {
  const hasEnded = async (sender: string) =>
    (await listCompanions(sender)).every(({ connected }) => !connected)

  type Work = () => Promise<unknown>

  async function receive(sender: string, beforeStored: Work, whenUnlocked: Work): Promise<string[]> {
    await gateway.link(sender)
    await untilFact('it has its history', async () => (await countPending(sender)) === 0)
    const texts = numbers('text ', 20)
    const [before, after] = [texts.slice(0, 10), texts.slice(10)]
    await whileLocked(system.database, 'messages IN SHARE ROW EXCLUSIVE MODE', async () => {
      const bringBack = await system.phones.keepOffline(sender)
      await writeMany('15550607001', sender, before)
      await bringBack()
      const hasReached = async (count: number) =>
        (await listCompanions(sender)).some(({ sent }) => sent >= count)
      await untilFact('what waited has reached the sender', () => hasReached(before.length))
      await writeMany('15550607001', sender, after)
      await untilFact('all has reached the sender', () => hasReached(texts.length))
      await untilFact('the owner waits for Postgres', async () => (await countWaitingStatements()) > 0)
      await beforeStored()
    })
    await whenUnlocked()
    await untilFact('all are stored', async () => (await listReceived(sender)).length === texts.length)
    return texts
  }

  it('are stored in their order', async () => {
    const sender = '15552019007'
    const nothing = async () => undefined
    const texts = await receive(sender, nothing, nothing)
    expect(await textsFrom(sender)).toEqual(texts)
  }, 90_000)

  it('are stored in their order when the connection ends meanwhile', async () => {
    const sender = '15552019008'
    const drop = async () => {
      await gateway.control('/faults', { kind: 'drop', sender, ms: 600_000 })
      await untilFact('the connection has ended', () => hasEnded(sender))
    }
    const texts = await receive(sender, drop, () => system.phones.clearFaultsOf(sender))
    expect(await textsFrom(sender)).toEqual(texts)
  }, 90_000)
})

/** Every recipient has read its message, and its answer is stored once. */
async function expectAnswers(sender: string, recipients: string[]): Promise<void> {
  await untilFact('all are read', async () => (await countWith(sender, 'read')) === recipients.length)
  await untilFact(
    'all answers are stored',
    async () => (await listReceived(sender)).length >= recipients.length,
  )
  await untilFact('all are acknowledged', async () => (await countPending(sender)) === 0)
  expect(await textsFrom(sender)).toEqual(recipients.map((number) => `answer of ${number}`))
}

it('loses neither messages nor receipts while Postgres does not answer for longer than a lease', async () => {
  const sender = '15552019004'
  const recipients = numbers('15550604', 20)
  await gateway.link(sender)
  await sendAndDeliver(sender, recipients)
  for (const link of links) link.freeze()
  const frozenAtMs = performance.now()
  await readAll(sender, recipients)
  for (const number of recipients) await write(number, sender, `answer of ${number}`)
  // A connection to Postgres is closed after 6 s of silence.
  await untilFact('the lease has run out', async () => performance.now() - frozenAtMs > 9000)
  expect(await countPending(sender)).toBe(40)
  for (const link of links) link.heal()
  await expectAnswers(sender, recipients)
}, 180_000)

it('loses nothing when the owner is killed while messages and receipts wait to be stored', async () => {
  const sender = '15552019006'
  const recipients = numbers('15550606', 20)
  await gateway.link(sender)
  await sendAndDeliver(sender, recipients)
  const [owner = ''] = system.devnet.names().filter((name) => name.startsWith('worker'))
  // Messages can be read and not written, all else can be stored.
  await whileLocked(system.database, 'messages IN SHARE ROW EXCLUSIVE MODE', async () => {
    await readAll(sender, recipients)
    for (const number of recipients) await write(number, sender, `answer of ${number}`)
    await untilFact('the owner has waited for a second', async () => (await countWaitingStatements()) > 0)
    expect(await countPending(sender)).toBe(40)
    system.devnet.signal(owner, 'SIGKILL')
    await untilFact('the owner is gone', async () => !system.devnet.names().includes(owner))
  })
  await system.devnet.start(owner)
  await expectAnswers(sender, recipients)
}, 180_000)

/** Of workers, for a lock, and for a second. */
async function countWaitingStatements(): Promise<number> {
  const waiting = await system.database.$client`
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'wagate-worker%' AND wait_event_type = 'Lock'
      AND query_start < now() - interval '1 second'`
  return waiting.length
}

it('loses nothing and stores nothing twice when the owner is killed amid messages and receipts', async () => {
  const sender = '15552019005'
  const recipients = numbers('15550605', 10)
  await gateway.link(sender)
  await sendAndDeliver(sender, Array.from({ length: 5 }, () => recipients).flat())
  const sent = numbers('text ', 400)
  const writeTexts = (from: number, to: number) =>
    Promise.all(
      numbers('1555061', 10).map(async (contact, index) => {
        for (const text of sent.slice(index * 40 + from, index * 40 + to)) await write(contact, sender, text)
      }),
    )
  const writing = writeTexts(0, 25)
  await untilFact('messages are coming in', async () => (await listReceived(sender)).length > 80)
  const reading = readAll(sender, recipients)
  await untilFact('receipts are coming in', async () => (await countWith(sender, 'read')) > 5)
  system.devnet.signal('worker-1', 'SIGKILL')
  await system.devnet.start('worker-2')
  await Promise.all([reading, writing])
  await writeTexts(25, 40)
  await untilFact('all are stored', async () => (await listReceived(sender)).length >= 400)
  await untilFact('all are read', async () => (await countWith(sender, 'read')) === 50)
  await untilFact('all are acknowledged', async () => (await countPending(sender)) === 0)
  expect(await textsFrom(sender)).toEqual(sent)
}, 180_000)
