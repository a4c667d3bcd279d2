import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, it } from 'vitest'

type PhoneState = { number: string; companions: { pending: number; sent: number; connected: boolean }[] }

/** A busy machine needs a while for thousands of messages. */
const untilFact = (what: string, isSo: () => Promise<boolean>) =>
  until(what, { withinMs: 100_000, everyMs: 100 }, isSo)

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await prepareBulks()
}, 120_000)

afterAll(() => system?.close(), 30_000)

const range = (count: number) => Array.from({ length: count }, (_, index) => index)
const write = (from: string, to: string, text: string) => gateway.control(`/chats/${from}/send`, { to, text })
const start = async (fault: Record<string, unknown>) =>
  (await gateway.control<{ id: string }>('/faults', fault)).id

async function stateOf(sender: string) {
  const phones = await gateway.control<PhoneState[]>('/phones')
  const [companion] = phones.find(({ number }) => number === sender)?.companions ?? []
  return companion ?? { pending: 0, sent: 0, connected: false }
}

async function countStalls(): Promise<number> {
  const [, count] =
    /^wagate_offline_queue_stalls_total (\d+)$/m.exec(await system.metricsOf('worker-1')) ?? []
  return Number(count)
}

async function countReceived(sender: string): Promise<number> {
  const [row] = await system.database.$client<{ count: number }[]>`
    SELECT count(*)::int FROM messages WHERE sender = ${sender} AND direction = 'in'`
  return row?.count ?? 0
}

/** By contact, in the order in which they were stored. */
async function textsReceived(sender: string): Promise<Record<string, string[]>> {
  const rows = await system.database.$client<{ number: string; bodies: string[] }[]>`
    SELECT number, array_agg(body ORDER BY seq) AS bodies FROM messages
    WHERE sender = ${sender} AND direction = 'in' GROUP BY number`
  return Object.fromEntries(rows.map(({ number, bodies }) => [number, bodies]))
}

/** The sender has no connection while `work` runs. */
async function whileOffline(sender: string, work: () => Promise<void>): Promise<void> {
  const drop = await start({ kind: 'drop', sender, ms: 600_000 })
  await untilFact('it is offline', async () => !(await stateOf(sender)).connected)
  await work()
  await system.phones.clearFault(drop)
}

const contactsOf = (sender: string) => range(10).map((index) => `${sender}${index}`)

/** Several times what a worker holds at a time. */
const many = 1000
type Parts = { size: number } | undefined
const bulks: [string, string, number, Parts][] = [
  ['all together', '1555201201', 600, undefined],
  ['in parts of 100', '1555201202', many, { size: 100 }],
  ['in parts of 20', '1555201203', 200, { size: 20 }],
]

const sentBefore = new Map<string, string[]>()
const sentMeanwhile = new Map<string, string>()
const textsOf = (count: number) => range(count / 10).map((index) => `text ${index}`)

/** Everybody writes to the sender, and reads what it sent. */
async function writeAll(sender: string, count: number): Promise<void> {
  const contacts = contactsOf(sender)
  const messages = textsOf(count).flatMap((text) => contacts.map((from) => ({ from, to: sender, text })))
  for (let first = 0; first < messages.length; first += 500)
    await system.phones.writeMany(messages.slice(first, first + 500))
  for (const contact of contacts) {
    const [message] = await gateway.phone(contact, sender)
    await gateway.control(`/chats/${contact}/read`, { wa_message_id: message?.wa_message_id })
  }
}

/** For all senders with much that waits, one worker is stopped and started again. */
async function prepareBulks(): Promise<void> {
  await Promise.all(
    bulks.map(async ([, sender, , parts]) => {
      await gateway.link(sender)
      const sent = await Promise.all(
        contactsOf(sender).map((number) => gateway.deliver(sender, number, 'hello')),
      )
      sentBefore.set(
        sender,
        sent.map(({ message_id: id }) => id),
      )
      if (parts) await start({ kind: 'offline_parts', sender, ...parts })
    }),
  )
  await system.devnet.stop('worker-1')
  await Promise.all(bulks.map(([, sender, count]) => writeAll(sender, count)))
  for (const [, sender] of bulks) sentMeanwhile.set(sender, await gateway.send(sender, '15552012099', 'now'))
  await system.devnet.start('worker-1')
}

it.concurrent('counts and survives a server that stops to hand out what waits', async ({ expect }) => {
  const sender = '1555201206'
  const contact = `${sender}0`
  await gateway.link(sender)
  const before = await countStalls()
  const stop = await start({ kind: 'offline_parts', sender, size: 0 })
  await whileOffline(sender, async () => {
    await write(contact, sender, 'waited')
  })
  await untilFact('the stall is counted', async () => (await countStalls()) === before + 1)
  await write(contact, sender, 'live')
  await untilFact('what comes later is stored', async () => (await countReceived(sender)) === 1)
  await system.phones.clearFault(stop)
  await system.phones.fault({ kind: 'drop', sender })
  await untilFact('all are stored', async () => (await countReceived(sender)) === 2)
  expect(await textsReceived(sender)).toEqual({ [contact]: ['live', 'waited'] })
}, 120_000)

it.concurrent.for(bulks)(
  'takes hundreds of messages and receipts that waited, %s, and sends meanwhile',
  { timeout: 120_000 },
  async ([_, sender, count, parts], { expect }) => {
    let mostSent = 0
    await untilFact('all are stored and acknowledged', async () => {
      const { pending, sent } = await stateOf(sender)
      mostSent = Math.max(mostSent, sent)
      return pending === 0 && (await countReceived(sender)) === count
    })
    expect(await textsReceived(sender)).toEqual(
      Object.fromEntries(contactsOf(sender).map((contact) => [contact, textsOf(count)])),
    )
    for (const id of sentBefore.get(sender) ?? []) await gateway.untilStatus(id, 'read')
    // The parts that are requested do not wait in memory: at most 100 are not stored when the next 100 are requested.
    if (parts) expect(mostSent).toBeLessThan(many / 2)
    const id = sentMeanwhile.get(sender) ?? ''
    await gateway.untilMessage(id, 'has left', ({ sent_at }) => sent_at !== null)
    if (count > 200) expect(await countStoredAfterSending(sender, id)).toBeGreaterThan(0)
  },
)

/** Received messages that were stored after this one had left. */
async function countStoredAfterSending(sender: string, id: string): Promise<number> {
  const [row] = await system.database.$client<{ count: number }[]>`
    SELECT count(*)::int FROM messages WHERE sender = ${sender} AND direction = 'in'
      AND created_at > (SELECT sent_at FROM messages WHERE id = ${id})`
  return row?.count ?? 0
}

it.concurrent.for([
  ['all together', '1555201204', undefined],
  ['in parts', '1555201205', {}],
] as const)(
  'neither stores nor refuses a status that waited before messages, %s',
  { timeout: 120_000 },
  async ([_, sender, parts], { expect }) => {
    const contact = `${sender}0`
    await gateway.link(sender)
    if (parts) await start({ kind: 'offline_parts', sender, ...parts })
    for (const text of ['first', 'second']) {
      await whileOffline(sender, async () => {
        await gateway.control(`/chats/${contact}/status`, { to: sender })
        await write(contact, sender, text)
      })
      await untilFact('nothing waits', async () => (await stateOf(sender)).pending === 0)
    }
    expect(await textsReceived(sender)).toEqual({ [contact]: ['first', 'second'] })
  },
)
