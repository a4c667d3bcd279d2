import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const sender = '15552020001'
const intervalMs = 600_000

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({
    environment: {
      SEND_RECIPIENT_INTERVAL_MS: String(intervalMs),
      ...shortLease,
      HEARTBEAT_MS: '200',
    },
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

let numbers = 0
const newNumber = () => `155511${10_000 + ++numbers}`

const send = (number: string) => gateway.send(sender, number)
const deliver = (number: string) => gateway.deliver(sender, number)
const statusOf = async (id: string) => (await gateway.messageStatus(id)).status

/** Stops or kills the owner, and resolves when another worker sends for the sender. */
async function changeOwner(how: 'stop' | 'kill'): Promise<void> {
  const owner = await system.ownerOf(sender)
  if (how === 'stop') await system.devnet.stop(owner)
  else system.devnet.signal(owner, 'SIGKILL')
  await until('another worker owns the sender', async () => (await system.ownerOf(sender)) !== owner)
  await deliver(newNumber())
  await until('the former owner is gone', async () => !system.devnet.names().includes(owner))
  await system.devnet.start(owner)
}

describe('messages to one recipient', () => {
  it('keep their distance also after the owner was killed, while others leave', async () => {
    const number = newNumber()
    await deliver(number)
    const next = await send(number)
    await deliver(newNumber())
    expect(await statusOf(next)).toBe('queued')

    await changeOwner('kill')
    expect(await statusOf(next)).toBe('queued')

    const sql = system.database.$client
    await sql`
      UPDATE messages SET sent_at = sent_at - ${intervalMs} * interval '1 ms', created_at = created_at
      WHERE number = ${number} AND sent_at IS NOT NULL`
    await changeOwner('stop')
    await gateway.untilStatus(next, 'delivered')
  }, 90_000)

  it('are sent again without a pause when the connection is lost', async () => {
    const number = newNumber()
    for (const kind of ['ack_drop', 'no_receipts']) {
      await gateway.control('/faults', { kind, sender, number, count: 1 })
    }
    const id = await send(number)
    const arrivals = async () =>
      (await system.phones.log()).filter(({ recipient }) => recipient.startsWith(number))
    await until('it has left', async () => (await arrivals()).length === 1)
    await gateway.control('/faults', { kind: 'drop', sender })
    await gateway.untilStatus(id, 'delivered')
    const next = await send(number)
    await deliver(newNumber())
    expect(await statusOf(next)).toBe('queued')
  })
})

describe('the numbers of new recipients', () => {
  /** Fails unless WhatsApp was asked for the number, and for its devices, before the first message to it came. */
  async function expectLookedUp(number: string): Promise<void> {
    const lookups = (await system.phones.lookups()).filter(
      (query) => query.sender === sender && query.numbers.includes(number),
    )
    const firstAt = (await system.phones.log()).find(({ recipient }) => recipient.startsWith(number))?.t
    for (const kind of ['contact', 'devices']) {
      const askedAt = lookups.find(({ asked }) => asked.includes(kind))?.t
      expect(askedAt, `asked for ${kind}`).toBeDefined()
      expect(Date.parse(askedAt ?? '')).toBeLessThanOrEqual(Date.parse(firstAt ?? ''))
    }
  }

  it('are looked up before the first message, also of a scheduled one and after a change of owner', async () => {
    const [first, scheduled, afterTakeover] = [newNumber(), newNumber(), newNumber()]
    await deliver(first)
    const { body } = await gateway.call('send-message', {
      sender,
      number: scheduled,
      message: 'later',
      send_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    await changeOwner('kill')
    const sql = system.database.$client
    await sql`UPDATE messages SET send_at = now() WHERE id = ${String(body.message_id)}`
    await gateway.untilStatus(String(body.message_id), 'delivered')
    await deliver(afterTakeover)
    for (const number of [first, scheduled, afterTakeover]) await expectLookedUp(number)
  }, 60_000)
})
