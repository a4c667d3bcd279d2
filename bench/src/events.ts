import type { Database } from '@wagate/db/client'
import { openEventHints } from '@wagate/queue/event-hints'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { openGateway } from '@wagate/test-kit/load/pooled-client'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { type CostSize, measureCosts } from './events/costs.ts'
import type { EventAccount } from './events/event-account.ts'
import { besides, type LatencyRound, type LatencySize, measureLatency } from './events/latencies.ts'
import { makeEventsReport } from './events/report.ts'
import { withAdminAccount } from './with-admin-account.ts'

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
  const { senders, costs: costSize, latency } = short ? sizes.short : sizes.full
  const withoutDecryption = new URL('./probes/no-decryption.mjs', import.meta.url).href
  const environment = (name: string): NodeJS.ProcessEnv => {
    if (name === 'simulator') return { NODE_OPTIONS: `--import ${withoutDecryption}` }
    return name === 'worker-1' ? { ALLOW_PRIVATE_WEBHOOK_HOSTS: 'true' } : {}
  }
  return withSystem({ workers: 1, environment, signal, ...keptIn(data) }, async (system) => {
    const { devnet } = system
    const numbers = senderNumbers(senders)
    await linkSenders(system, numbers)
    const hints = openEventHints(devnet.redisUrl, { onError: () => undefined })
    try {
      return await withAdminAccount(system, async (admin) => {
        const account = { ...admin, senders: numbers }
        const other = await makeOtherAccount(system, admin.db)
        const costs = await measureCosts(system, account, { size: costSize, signal })
        const latencies: LatencyRound[] = []
        for (let round = 0; round < latency.rounds; round++) {
          for (const beside of besides) {
            const options = { hints, size: latency, signal }
            latencies.push(await measureLatency(beside, system, { account, other }, options))
          }
        }
        return makeEventsReport({ costs, latencies })
      })
    } finally {
      await hints.close()
    }
  })
}

async function makeOtherAccount(system: System, db: Database): Promise<EventAccount> {
  const email = `other-${Date.now()}@example.com`
  const user = await system.gateway.call('create-user', { email, password: 'correct horse battery' })
  const gateway = openGateway(system.devnet.apiUrl, String(user.body.api_key), 1)
  try {
    const senders = senderNumbers(1, 5)
    await linkSenders({ ...system, gateway }, senders)
    return { db, accountId: Number(user.body.user_id), senders }
  } finally {
    gateway.close()
  }
}
