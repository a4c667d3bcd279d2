import { closeDatabase, openDatabase } from '@wagate/db/client'
import { makeEventHints } from '@wagate/queue/event-hints'
import { openRedisLinks } from '@wagate/queue/redis-links'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { type CostSize, measureCosts } from './events/costs.ts'
import { openEventAccount, openOtherAccount } from './events/event-account.ts'
import { besides, type LatencyRound, type LatencySize, measureLatency } from './events/latencies.ts'
import { makeEventsReport } from './events/report.ts'
import { withoutDecryption } from './without-decryption.ts'

type Size = { senders: number; costs: CostSize; latency: LatencySize & { rounds: number } }

const sizes: Record<'full' | 'short', Size> = {
  full: {
    senders: 20,
    costs: { rounds: 3, acceptMs: 8000, messages: 2000 },
    latency: { rounds: 3, perSecond: 1000, ms: 20_000 },
  },
  short: {
    senders: 4,
    costs: { rounds: 1, acceptMs: 1000, messages: 100 },
    latency: { rounds: 1, perSecond: 100, ms: 3000 },
  },
}

/** What the stream of events and its subscribers cost, and how soon webhooks are called. */
export async function measureEvents({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const size = short ? sizes.short : sizes.full
  const environment = withoutDecryption(() => ({ ALLOW_PRIVATE_WEBHOOK_HOSTS: 'true' }))
  const options = { workers: 1, environment, signal, ...keptIn(data) }
  return withSystem(options, (system) => observe(system, size, signal))
}

async function observe(
  system: System,
  { senders, costs, latency }: Size,
  signal: AbortSignal,
): Promise<Report> {
  const { devnet } = system
  const db = openDatabase(devnet.databaseUrl, {
    poolSize: 4,
    applicationName: 'wagate-bench',
    statementTimeoutMs: 30_000,
  })
  const redis = openRedisLinks(devnet.redisUrl, { onError: () => undefined })
  const hints = makeEventHints(redis)
  try {
    const account = await openEventAccount(system, db, senderNumbers(senders))
    const other = await openOtherAccount(system, db, senderNumbers(1, 5))
    const found = await measureCosts(system, account, { size: costs, signal })
    const latencies: LatencyRound[] = []
    for (let round = 0; round < latency.rounds; round++) {
      for (const beside of besides) {
        const options = { hints, size: latency, signal }
        latencies.push(await measureLatency(beside, system, { account, other }, options))
      }
    }
    other.gateway.close()
    return makeEventsReport({ costs: found, latencies })
  } finally {
    await hints.close()
    await redis.close()
    await closeDatabase(db)
  }
}
