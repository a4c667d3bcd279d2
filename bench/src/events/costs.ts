import { recipientOf } from '@wagate/test-kit/load/numbers'
import type { System } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import { load } from '../accept/load.ts'
import { startProcessMeter, type Usages } from '../process-meter.ts'
import { sendThroughGateway } from '../throughput/send-through-gateway.ts'
import { readWalBytes } from '../wal-bytes.ts'
import type { EventAccount } from './event-account.ts'
import { subscribe, type Way, ways } from './subscribers.ts'

export type CostRound = {
  work: 'accept' | 'send'
  way: Way
  messages: number
  ms: number
  usages: Usages
  walBytes: number
}

export type CostSize = { rounds: number; acceptMs: number; messages: number }

const connections = 64
/** Accepted, sent and delivered. */
const eventsOfSent = 3
const toldMs = 120_000

/** What accepting and sending cost without a subscriber, beside one that polls and beside a webhook, in turn. */
export async function measureCosts(
  system: System,
  account: EventAccount,
  { size, signal }: { size: CostSize; signal: AbortSignal },
): Promise<CostRound[]> {
  const { devnet } = system
  const works: Record<CostRound['work'], () => Promise<{ messages: number; ms: number; events: number }>> = {
    async accept() {
      const { answers, failures, ms } = await load({
        url: devnet.apiUrl,
        headers: { 'content-type': 'application/json', 'x-api-key': devnet.adminKey.apiKey ?? '' },
        bodies: account.senders.map((sender, index) =>
          JSON.stringify({
            sender,
            number: recipientOf(sender, index),
            message: 'A text to be accepted',
            // Accepted and not sent meanwhile.
            send_at: new Date(Date.now() + 86_400_000).toISOString(),
          }),
        ),
        connections,
        ms: size.acceptMs,
      })
      if (failures > 0) throw new Error(`${failures} requests were refused`)
      return { messages: answers, ms, events: answers }
    },
    async send() {
      const { messages, ms } = await sendThroughGateway(system, account.senders, size.messages)
      return { messages, ms, events: messages * eventsOfSent }
    },
  }

  async function measure(work: CostRound['work'], way: Way): Promise<CostRound> {
    const subscriber = await subscribe(way, account.gateway)
    const meter = startProcessMeter(devnet)
    const walBefore = await readWalBytes(account.db)
    const { messages, ms, events } = await works[work]()
    await until('the subscriber has all events', { withinMs: toldMs, everyMs: 20 }, () => {
      return (subscriber.count() ?? events) >= events
    })
    const walBytes = (await readWalBytes(account.db)) - walBefore
    const usages = meter.stop()
    await subscriber.stop()
    return { work, way, messages, ms, usages, walBytes }
  }

  // The first contacts of the senders do not count.
  await works.send()
  const rounds: CostRound[] = []
  for (let round = 0; round < size.rounds; round++) {
    for (const work of ['accept', 'send'] as const) {
      for (const way of ways) {
        signal.throwIfAborted()
        rounds.push(await measure(work, way))
      }
    }
  }
  return rounds
}
