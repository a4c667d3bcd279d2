import { setTimeout as delay } from 'node:timers/promises'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import type { Answer } from '@wagate/test-kit/http-client'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const senders = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => `1555201300${index}`)
const recipients = [1, 2, 3].map((index) => `1555201310${index}`)

let system: TestSystem
let worker2ToWhatsapp: TcpProxy | undefined
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({
    shards: 16,
    async proxyFor(name, url) {
      if (name !== 'worker-2' || !url.startsWith('ws')) return url
      worker2ToWhatsapp = await startTcpProxy(url)
      return worker2ToWhatsapp.url
    },
  })
  gateway = system.gateway
  await Promise.all(senders.map(gateway.link))
}, 90_000)

afterAll(async () => {
  await system?.close()
  await worker2ToWhatsapp?.close()
}, 30_000)

/** Sends numbered rounds from every sender to every recipient while `fault` happens, and returns all answers. */
async function sendDuring(name: string, rounds: number, fault: () => Promise<void>): Promise<Answer[]> {
  const answers: Answer[] = []
  const sending = (async () => {
    for (let round = 0; round < rounds; round++) {
      for (const number of recipients) {
        const sent = senders.map((sender) =>
          gateway.call('send-message', { sender, number, message: `${name} ${round}` }),
        )
        answers.push(...(await Promise.all(sent)))
        await delay(10)
      }
    }
  })()
  await Promise.all([fault(), sending])
  return answers
}

/** What each phone got of this name from each sender, in the order of arrival. */
async function receivedBy(name: string) {
  const pairs = senders.flatMap((sender) => recipients.map((recipient) => ({ sender, recipient })))
  return Promise.all(
    pairs.map(async ({ sender, recipient }) => {
      const messages = await gateway.phone(recipient, sender)
      return messages.map(({ text }) => text ?? '').filter((text) => text.startsWith(`${name} `))
    }),
  )
}

async function expectAllOnceInOrder(name: string, rounds: number): Promise<void> {
  const expected = Array.from({ length: rounds }, (_, round) => `${name} ${round}`)
  await until(`all messages of "${name}" have arrived`, async () => {
    const received = await receivedBy(name)
    return received.every((texts) => texts.length >= rounds)
  })
  for (const texts of await receivedBy(name)) expect(texts).toEqual(expected)
}

type Statistics = {
  totals: Record<string, number>
  rows: { sender: string; sent: number; delivered: number }[]
}

/** Nothing is counted twice or left out, whichever worker recorded it. */
async function expectCounted(messagesOfSender: number): Promise<void> {
  const all = messagesOfSender * senders.length
  const read = async () => (await gateway.call('statistics', { by: 'sender' })).body as Statistics
  await until('all deliveries are counted', async () => (await read()).totals.delivered === all)
  const { totals, rows } = await read()
  expect(totals).toEqual({ sent: all, delivered: all, read: 0, failed: 0, received: 0 })
  const ofEach = { sent: messagesOfSender, delivered: messagesOfSender }
  expect(rows).toEqual(senders.map((sender) => expect.objectContaining({ sender, ...ofEach })))
  const events = await system.database.$client`
    SELECT count(*) FILTER (WHERE type = 2)::int AS sent, count(*) FILTER (WHERE type = 3)::int AS delivered
    FROM events WHERE device_id IN (SELECT id FROM devices WHERE sender = ANY (${senders}))`
  expect(events).toEqual([{ sent: all, delivered: all }])
}

describe('the senders of a worker', () => {
  it('go on with another worker when theirs is killed in the middle of sending', async () => {
    const answers = await sendDuring('killed', 20, async () => {
      await delay(150)
      system.devnet.signal('worker-1', 'SIGKILL')
    })
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    await expectAllOnceInOrder('killed', 20)
    await expectCounted(20 * recipients.length)
    for (const sender of senders) {
      await until(
        `${sender} is connected`,
        async () => (await gateway.statusOf(sender)).status === 'connected',
      )
    }
  }, 60_000)

  it('move without a conflict to a worker that comes back, and when theirs is stopped', async () => {
    const before = await gateway.control<{ conflicts: number; logins: number }>('/stats')
    // The login through the next worker is there sooner than the end of the connection through this one.
    worker2ToWhatsapp?.worsen({ latencyMs: 60, jitterMs: 0, resetShare: 0 })
    await system.devnet.start('worker-1')
    await until('two workers share the senders', async () => {
      const { logins } = await gateway.control<{ logins: number }>('/stats')
      return logins >= before.logins + senders.length / 2
    })
    worker2ToWhatsapp?.heal()
    const answers = await sendDuring('stopped', 20, async () => {
      await delay(150)
      await system.devnet.stop('worker-2')
    })
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    await expectAllOnceInOrder('stopped', 20)
    const after = await gateway.control<{ conflicts: number }>('/stats')
    expect(after.conflicts).toBe(before.conflicts)
  }, 60_000)
})
