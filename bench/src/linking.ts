import { setTimeout as delay } from 'node:timers/promises'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { recipientOf, senderNumbers } from '@wagate/test-kit/load/numbers'
import { readRssBytes } from '@wagate/test-kit/resident-memory'
import { spread } from '@wagate/test-kit/statistics'
import { type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import type { BenchmarkOptions, Report } from './benchmark.ts'

const sizes = { full: 20, short: 3 }
const past = { chats: 400, messages: 60_000 }
const sendEveryMs = 50
const mebibyte = 2 ** 20

type Sample = { linked: string; seconds: number; 'p50 ms': number; 'max ms': number; 'worker MB': number }

/** Memory of a worker, and how long messages of another sender wait in it, while phones are linked: with and without a past. */
export async function measureLinking({ short, signal }: BenchmarkOptions): Promise<Report> {
  const count = short ? sizes.short : sizes.full
  return withSystem({ workers: 1, signal }, async (system) => {
    const [working = ''] = senderNumbers(1, 3)
    await linkSenders(system, [working])
    const [without, longPast] = [senderNumbers(count, 1), senderNumbers(count, 2)]
    for (const number of longPast) await system.phones.givePast(number, past)
    const samples = [
      await measure(system, `${count} phones without a history`, working, without),
      await measure(system, `${count} phones with 60,000 messages each`, working, longPast),
    ]
    return {
      tables: [{ title: 'Linking, three at a time, beside a sender at work', rows: samples }],
      notes: [`The sender sends a text every ${sendEveryMs} ms. From its acceptance until WhatsApp has it.`],
      samples,
    }
  })
}

async function measure(system: System, linked: string, working: string, phones: string[]): Promise<Sample> {
  const { devnet, gateway, records } = system
  const startedAtMs = Date.now()
  const run = { isDone: false, rssBytes: 0 }
  const linking = linkSenders(system, phones).finally(() => {
    run.isDone = true
  })
  for (let index = 0; !run.isDone; index += 1) {
    await gateway.call('send-message', { sender: working, number: recipientOf(working, index), message: 'x' })
    run.rssBytes = Math.max(run.rssBytes, readRssBytes(devnet.pid('worker-1') ?? 0))
    await delay(sendEveryMs)
  }
  await linking
  const seconds = Math.round((Date.now() - startedAtMs) / 1000)
  await until(
    'all messages are sent',
    { withinMs: 30_000, everyMs: 100 },
    async () => (await records.countWaiting()) === 0,
  )
  const sent = await records.listMessagesSince(startedAtMs)
  const waits = sent.map(({ createdAtMs, sentAtMs }) => (sentAtMs ?? Number.NaN) - createdAtMs)
  const { p50, max } = spread(waits)
  return { linked, seconds, 'p50 ms': p50, 'max ms': max, 'worker MB': Math.round(run.rssBytes / mebibyte) }
}
