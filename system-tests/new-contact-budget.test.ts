import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const perDay = 3
/** With a folder of its own Postgres loses nothing that was committed when it is killed. */
const dataFolder = mkdtempSync(join(tmpdir(), 'wagate-new-contacts-'))

let system: TestSystem
let gateway: GatewayClient
let senders = 0
let strangers = 0

beforeAll(async () => {
  system = await openTestSystem({
    dataFolder,
    environment: {
      NEW_CONTACTS_PER_DAY: String(perDay),
      ...shortLease,
      HEARTBEAT_MS: '200',
      SEND_ACK_TIMEOUT_MS: '3000',
    },
  })
  gateway = system.gateway
}, 60_000)

afterAll(async () => {
  await system?.close()
  rmSync(dataFolder, { recursive: true, force: true })
}, 30_000)

async function linkSender(): Promise<string> {
  senders += 1
  const sender = `155520110${10 + senders}`
  await gateway.link(sender)
  return sender
}

const it = test
  .extend('newSender', () => linkSender())
  // Past its warm-up.
  .extend('sender', async () => {
    const sender = await linkSender()
    await setLinkedDaysAgo(sender, 20)
    return sender
  })

/** A number that the sender has never exchanged a message with. */
function stranger(): string {
  strangers += 1
  return `155513${10_000 + strangers}`
}

const statusOf = async (id: string) => (await gateway.messageStatus(id)).status
const info = (sender: string) => gateway.statusOf(sender)

/** Returns the messages that are left. Which of them leave first depends on WhatsApp's answers about their recipients. */
function untilDelivered(ids: string[], count = ids.length): Promise<string[]> {
  return until(
    `${count} of ${ids.length} messages are delivered`,
    { withinMs: 40_000, everyMs: 50 },
    async () => {
      // Requests for a hundred messages would take more of the processor than the system does.
      const rows = await system.database.$client<{ id: string }[]>`
        SELECT id FROM messages WHERE id = ANY(${ids}::uuid[]) AND status <> 'delivered'`
      const undelivered = new Set(rows.map(({ id }) => id))
      const left = ids.filter((id) => undelivered.has(id))
      return left.length === ids.length - count && left
    },
  )
}

const listSent = async (sender: string) =>
  (await system.phones.log()).filter((entry) => entry.sender === sender)

/** Moves the first link of the sender, and lets its owner know. */
async function setLinkedDaysAgo(sender: string, days: number): Promise<void> {
  const sql = system.database.$client
  await sql`UPDATE devices SET warm_up_from = now() - ${days} * interval '1 day' WHERE sender = ${sender}`
  await gateway.call('set-device', { sender, name: 'moved' })
}

/** Sends to so many strangers, of whom as many as the budget allows get the message, and returns the others' messages. */
async function sendBeyond(sender: string, count: number, allowed: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await gateway.send(sender, stranger()))
  return untilDelivered(ids, allowed)
}

/** A contact that wrote is a known one. A message to it would leave after those that may leave. */
async function expectWaiting(sender: string, ids: string[]): Promise<void> {
  const friend = stranger()
  await gateway.control(`/chats/${friend}/send`, { to: sender, text: 'hello' })
  await until('its message has arrived', async () => {
    const { body } = await gateway.get(`messages?sender=${sender}&number=${friend}`)
    return (body.messages as unknown[]).length > 0
  })
  await gateway.deliver(sender, friend)
  for (const id of ids) expect(await statusOf(id)).toBe('queued')
}

async function changeOwner(sender: string, how: 'stop' | 'kill'): Promise<void> {
  const owner = await system.ownerOf(sender)
  if (how === 'stop') await system.devnet.stop(owner)
  else system.devnet.signal(owner, 'SIGKILL')
  await until('another worker owns the sender', async () => (await system.ownerOf(sender)) !== owner)
  await until('the former owner is gone', async () => !system.devnet.names().includes(owner))
  await system.devnet.start(owner)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe.concurrent('a sender past its warm-up', () => {
  it('writes to as many new contacts as its budget allows, and to known ones and again to those', async ({
    sender,
  }) => {
    const first = stranger()
    await gateway.deliver(sender, first)
    // More than the outbox reads ahead: they must not hide known contacts behind them.
    const held = await sendBeyond(sender, 100, perDay - 1)
    await expectWaiting(sender, held)
    await gateway.deliver(sender, first)
    expect(await info(sender)).toMatchObject({
      new_contacts_per_day: perDay,
      new_contacts_allowed: perDay,
      new_contacts_used: perDay,
      new_contacts_reset_at: expect.stringMatching(/T00:00:00.000Z$/),
    })
    expect(await info(sender)).not.toHaveProperty('restriction_reason')
    const metrics = await system.metricsOf(await system.ownerOf(sender))
    expect(metrics).toMatch(/^wagate_new_contact_budgets_used_up [1-9]/m)
  })

  it('gets another budget at once with set-device', async ({ sender }) => {
    const held = await sendBeyond(sender, perDay + 3, perDay)
    await gateway.call('set-device', { sender, new_contacts_per_day: perDay + 1 })
    await expectWaiting(sender, await untilDelivered(held, 1))
    expect(await info(sender)).toMatchObject({ new_contacts_used: perDay + 1 })
    await gateway.call('set-device', { sender, new_contacts_per_day: 0 })
    await untilDelivered(held)
    expect(await info(sender)).not.toHaveProperty('new_contacts_used')
  })

  it('does not get another one by being deleted and created again', async ({ sender }) => {
    await sendBeyond(sender, perDay, perDay)
    await gateway.call('delete-device', { sender })
    await gateway.link(sender)
    expect(await info(sender)).toMatchObject({ new_contacts_allowed: perDay, new_contacts_used: perDay })
    await expectWaiting(sender, [await gateway.send(sender, stranger())])
  })

  it('uses none of it for a number that is not on WhatsApp', async ({ sender }) => {
    const absent = stranger()
    await gateway.control('/faults', { kind: 'not_on_whatsapp', sender, number: absent })
    await gateway.untilStatus(await gateway.send(sender, absent), 'failed')
    await sendBeyond(sender, perDay, perDay)
    expect(await info(sender)).toMatchObject({ new_contacts_used: perDay })
  })
})

it.concurrent('a new sender warms up: on its first day it has a fifth of its budget, on the next two', async ({
  newSender: sender,
}) => {
  await gateway.call('set-device', { sender, new_contacts_per_day: 10 })
  const held = await sendBeyond(sender, 6, 2)
  await expectWaiting(sender, held)
  expect(await info(sender)).toMatchObject({ new_contacts_per_day: 10, new_contacts_allowed: 2 })
  await setLinkedDaysAgo(sender, 1)
  await expectWaiting(sender, await untilDelivered(held, 2))
  expect(await info(sender)).toMatchObject({ new_contacts_allowed: 4, new_contacts_used: 4 })
})

describe('a sender whose budget is used up', () => {
  /** One new contact has its message, and the messages to those that the budget allows besides are not acknowledged. */
  async function fillWire(sender: string): Promise<string[]> {
    await gateway.deliver(sender, stranger())
    for (const kind of ['ack_drop', 'no_receipts']) await gateway.control('/faults', { kind, sender })
    const ids: string[] = []
    for (let n = 0; n < perDay + 3; n++) ids.push(await gateway.send(sender, stranger()))
    await untilOnWire(sender, 1)
    return ids
  }

  /** Resolves when all that lack an acknowledgement have left over so many connections. One may send them repeatedly. */
  async function untilOnWire(sender: string, connections: number): Promise<void> {
    await until('they are on the wire', async () => {
      const unanswered = (await listSent(sender)).filter(({ ack }) => ack === 'dropped')
      const ways = new Set(unanswered.map(({ connection, recipient }) => `${connection} to ${recipient}`))
      return ways.size >= connections * (perDay - 1)
    })
  }

  it('keeps the exact count while its owners are killed with messages on the wire', async ({ sender }) => {
    const ids = await fillWire(sender)
    for (let kills = 1; kills <= 2; kills++) {
      await changeOwner(sender, 'kill')
      await untilOnWire(sender, kills + 1)
    }
    await system.phones.clearFaultsOf(sender)
    const left = await untilDelivered(ids, perDay - 1)
    expect(new Set((await listSent(sender)).map(({ recipient }) => recipient)).size).toBe(perDay)
    await expectWaiting(sender, left)
    expect(await info(sender)).toMatchObject({ new_contacts_used: perDay })
  }, 60_000)

  it('keeps the exact count when Postgres crashes and its owner is killed', async ({ sender }) => {
    const owner = await system.ownerOf(sender)
    const ids = await fillWire(sender)
    const pid = system.devnet.pid('postgres') ?? 0
    system.devnet.signal('postgres', 'SIGKILL')
    system.devnet.signal(owner, 'SIGKILL')
    await system.phones.clearFaultsOf(sender)
    await until('Postgres is gone', async () => !isRunning(pid))
    await system.devnet.start('postgres')
    await until('the former owner is gone', async () => !system.devnet.names().includes(owner))
    await system.devnet.start(owner)
    const left = await untilDelivered(ids, perDay - 1)
    expect(new Set((await listSent(sender)).map(({ recipient }) => recipient)).size).toBe(perDay)
    await expectWaiting(sender, left)
    expect(await info(sender)).toMatchObject({ new_contacts_used: perDay })
  }, 60_000)

  it('starts again the next day', async ({ sender }) => {
    const held = await sendBeyond(sender, perDay * 2 + 1, perDay)
    await expectWaiting(sender, held)
    const sql = system.database.$client
    await sql`UPDATE new_contacts SET created_at = created_at - interval '1 day'`
    await changeOwner(sender, 'stop')
    await expectWaiting(sender, await untilDelivered(held, perDay))
  }, 60_000)
})
