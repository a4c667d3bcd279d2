import { freePort } from '@wagate/local-servers/free-port'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type PhoneState = { number: string; companions: { pending: number; sent: number }[] }

/** A busy machine needs a while for thousands of messages. */
const untilFact = (what: string, isSo: () => Promise<boolean>) =>
  until(what, { withinMs: 240_000, everyMs: 100 }, isSo)

let system: TestSystem
let gateway: GatewayClient
let metricsPort: number
let workers = 1

beforeAll(async () => {
  metricsPort = await freePort()
  system = await openTestSystem({
    workers: 1,
    environment: (name) => (name === 'worker-stalled' ? { METRICS_PORT: String(metricsPort) } : {}),
  })
  gateway = system.gateway
}, 60_000)

afterAll(() => system?.close(), 30_000)

const range = (count: number) => Array.from({ length: count }, (_, index) => index)
const write = (from: string, to: string, text: string) => gateway.control(`/chats/${from}/send`, { to, text })

async function stateOf(sender: string): Promise<{ pending: number; sent: number }> {
  const phones = await gateway.control<PhoneState[]>('/phones')
  const [companion] = phones.find(({ number }) => number === sender)?.companions ?? []
  return companion ?? { pending: 0, sent: 0 }
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

/** No worker runs while `work` does. */
async function whileOffline(name: string, work: () => Promise<void>): Promise<void> {
  for (const worker of system.devnet.names().filter((one) => one.startsWith('worker')))
    await system.devnet.stop(worker)
  await work()
  await system.devnet.start(name)
}

const contactsOf = (sender: string) => range(10).map((index) => `${sender}${index}`)

it.each([
  ['all at once', '1555201201', undefined],
  ['in parts of 100', '1555201202', { size: 100 }],
  ['in parts of 20', '1555201203', { size: 20 }],
])(
  'takes thousands of messages and receipts that waited, %s, and sends meanwhile',
  async (_, sender, parts) => {
    const perContact = parts?.size === 20 ? 20 : 500
    const contacts = contactsOf(sender)
    const texts = range(perContact).map((index) => `text ${index}`)
    await gateway.link(sender)
    const sent = await Promise.all(
      contacts.map((number) => gateway.call('send-message', { sender, number, message: 'hello' })),
    )
    const ids = sent.map(({ body }) => String(body.message_id))
    for (const id of ids) await gateway.untilStatus(id, 'delivered')
    if (parts) await gateway.control('/faults', { kind: 'offline_parts', sender, ...parts })

    await whileOffline(`worker-${++workers}`, async () => {
      await Promise.all(
        contacts.map(async (contact) => {
          for (const text of texts) await write(contact, sender, text)
          const [message] = await gateway.phone(contact, sender)
          await gateway.control(`/chats/${contact}/read`, { wa_message_id: message?.wa_message_id })
        }),
      )
    })

    const { body } = await gateway.call('send-message', { sender, number: '15552012099', message: 'now' })
    await gateway.untilMessage(body.message_id, 'has left', ({ sent_at }) => sent_at !== null)
    const total = contacts.length * perContact
    if (perContact > 100) expect(await countReceived(sender)).toBeLessThan(total)

    let mostSent = 0
    await untilFact('all are stored and acknowledged', async () => {
      const { pending, sent } = await stateOf(sender)
      mostSent = Math.max(mostSent, sent)
      return pending === 0 && (await countReceived(sender)) === total
    })
    expect(await textsReceived(sender)).toEqual(
      Object.fromEntries(contacts.map((contact) => [contact, texts])),
    )
    for (const id of ids) await gateway.untilStatus(id, 'read')
    // The parts that are requested do not wait in memory: at most 100 are not stored when the next 100 are requested.
    if (parts) expect(mostSent).toBeLessThan(300)
  },
  300_000,
)

it.each([
  ['all at once', '1555201204', undefined],
  ['in parts', '1555201205', {}],
])(
  'neither stores nor refuses a status that waited before messages, %s',
  async (_, sender, parts) => {
    const contact = `${sender}0`
    await gateway.link(sender)
    if (parts) await gateway.control('/faults', { kind: 'offline_parts', sender, ...parts })
    for (const text of ['first', 'second']) {
      await whileOffline(`worker-${++workers}`, async () => {
        await gateway.control(`/chats/${contact}/status`, { to: sender })
        await write(contact, sender, text)
      })
      await untilFact('nothing waits', async () => (await stateOf(sender)).pending === 0)
    }
    expect(await textsReceived(sender)).toEqual({ [contact]: ['first', 'second'] })
  },
  120_000,
)

it('counts and survives a server that stops to hand out what waits', async () => {
  const sender = '1555201206'
  const contact = `${sender}0`
  await gateway.link(sender)
  const { id } = await gateway.control<{ id: string }>('/faults', { kind: 'offline_parts', sender, size: 0 })
  await whileOffline('worker-stalled', async () => {
    await write(contact, sender, 'waited')
  })
  await untilFact('the stall is counted', async () => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined)
    return /^wagate_offline_queue_stalls_total 1$/m.test((await response?.text()) ?? '')
  })
  await write(contact, sender, 'live')
  await untilFact('what comes later is stored', async () => (await countReceived(sender)) === 1)
  await system.phones.clearFault(id)
  await whileOffline(`worker-${++workers}`, async () => undefined)
  await untilFact('all are stored', async () => (await countReceived(sender)) === 2)
  expect(await textsReceived(sender)).toEqual({ [contact]: ['live', 'waited'] })
}, 120_000)
