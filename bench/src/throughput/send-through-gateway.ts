import { setTimeout as delay } from 'node:timers/promises'
import { inLanes } from '@wagate/test-kit/load/in-lanes'
import { recipientOf } from '@wagate/test-kit/load/numbers'
import type { System } from '@wagate/test-kit/system'
import { ownCpuMs, readCpuMs } from '../process-usage.ts'
import type { Profiler } from '../profiler.ts'
import type { Round } from './round.ts'

const connections = 64
const pollMs = { longest: 500, shortest: 20 }
const limitMs = 180_000

/**
 * Sends over HTTP on 64 connections. `ms` until all messages are `sent` in Postgres, CPU until all are `delivered`: the
 * receipts are a part of the cost.
 */
export async function sendThroughGateway(
  { devnet, gateway, records }: System,
  senders: string[],
  messages: number,
  profiler?: Profiler,
): Promise<Round> {
  const cpuNow = () => ({
    sender: readCpuMs(devnet.pid('worker-1') ?? 0),
    api: readCpuMs(devnet.pid('api') ?? 0),
    postgres: readCpuMs(devnet.pid('postgres') ?? 0),
    redis: readCpuMs(devnet.pid('redis') ?? 0),
    simulator: readCpuMs(devnet.pid('simulator') ?? 0),
    client: ownCpuMs(),
  })
  await profiler?.start(devnet.pid('worker-1') ?? 0)
  const before = cpuNow()
  const startedAt = performance.now()
  const startedAtMs = Date.now()

  const work = Array.from({ length: messages }, (_, index) => index)
  await inLanes(work, connections, async (index) => {
    const sender = senders[index % senders.length] ?? ''
    const number = recipientOf(sender, Math.floor(index / senders.length))
    const { status, body } = await gateway.call('send-message', {
      sender,
      number,
      message: `Message ${index}`,
    })
    if (status !== 200) throw new Error(`Refused with ${status}: ${JSON.stringify(body)}`)
  })
  async function untilAll(status: 'sent' | 'delivered'): Promise<void> {
    for (let count = 0; count < messages; ) {
      const tookMs = performance.now() - startedAt
      if (tookMs > limitMs) throw new Error(`${messages - count} messages were not ${status}`)
      count = await records.countSince(startedAtMs, status)
      const expectedMs = ((messages - count) / Math.max(1, count)) * tookMs
      if (count < messages) await delay(Math.min(pollMs.longest, Math.max(pollMs.shortest, expectedMs / 2)))
    }
  }

  await untilAll('sent')
  const ms = performance.now() - startedAt
  await untilAll('delivered')
  const after = cpuNow()
  await profiler?.stop(devnet.pid('worker-1') ?? 0)
  const used = (process: keyof typeof before) => after[process] - before[process]
  return {
    way: 'gateway',
    messages,
    ms,
    cpuMs: {
      sender: used('sender'),
      api: used('api'),
      postgres: used('postgres'),
      redis: used('redis'),
      simulator: used('simulator'),
      client: used('client'),
    },
  }
}
