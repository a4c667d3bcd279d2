import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import {
  claimDevices,
  countLinkedDevices,
  findDeviceStates,
  listDevicesWithWork,
} from '@wagate/db/queries/devices/device-owner-view'
import { findSentToday } from '@wagate/db/queries/messages/sent-today'
import {
  failUnlinkedMessages,
  firstWaiting,
  listDevicesWithExpired,
} from '@wagate/db/queries/messages/unsendable-messages'
import {
  countLinkedDevicesByOwner,
  describeShardsOwnedBy,
  freeShardsOfDeadWorkers,
  listUnownedShards,
  parseShards,
} from '@wagate/db/queries/workers/shard-leases'
import { listLiveWorkers, markGoneWorkersDead, renewWorker } from '@wagate/db/queries/workers/workers'
import { significant } from '@wagate/test-kit/statistics'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { readCpuMs } from './process-usage.ts'
import { fillInstallation, type Size } from './statements/fill.ts'
import { withThrowAwayPostgres } from './throw-away-postgres.ts'

const sizes: Record<'full' | 'short', Size> = {
  full: { workers: 500, shards: 4096, devices: 100_000, messages: 2_000_000, weeks: 52 },
  short: { workers: 50, shards: 256, devices: 10_000, messages: 100_000, weeks: 52 },
}
const timeouts = { leaseTtlMs: 6000, silentMs: 1500 }
const measureMs = { full: 2000, short: 700 }

/** The cost in Postgres of each statement that workers repeat, in an installation of the largest size. */
export async function measureStatements({ short, signal }: BenchmarkOptions): Promise<Report> {
  const kind = short ? 'short' : 'full'
  const size = sizes[kind]
  return withThrowAwayPostgres({ shards: size.shards, signal }, async ({ url, pid }) => {
    const db = openDatabase(url, {
      poolSize: 1,
      applicationName: 'bench',
      statementTimeoutMs: 600_000,
      plans: 'generic',
    })
    try {
      await fillInstallation(db.$client, size)
      const rows = []
      for (const [statement, run] of Object.entries(await statementsOf(db))) {
        signal.throwIfAborted()
        rows.push({ statement, ...(await measure(run, measureMs[kind], pid)) })
      }
      return {
        tables: [{ title: 'One of the workers, one statement after the other', rows }],
        notes: [
          `${size.workers} workers, ${size.shards} shards, ${size.devices} linked senders, ${size.messages} messages, ${size.weeks} weeks of partitions.`,
        ],
        samples: rows,
      }
    } finally {
      await closeDatabase(db)
    }
  })
}

async function statementsOf(db: Database): Promise<Record<string, () => Promise<unknown>>> {
  const [worker] = await db.$client<{ id: string }[]>`SELECT id FROM workers WHERE name = 'worker-7'`
  const id = worker?.id ?? ''
  const fences = parseShards(await describeShardsOwnedBy(db, id)).map((owned) => ({ ...owned, workerId: id }))
  const shards = fences.map(({ shard }) => shard)
  const [device] = await db.$client<
    { id: number }[]
  >`SELECT id FROM devices WHERE shard = ${shards[0] ?? 0} LIMIT 1`
  const deviceId = device?.id ?? 0
  const [fence] = fences
  if (!fence) throw new Error('The worker owns no shard')
  return {
    'heartbeat: renewWorker': () => renewWorker(db, id, 3_600_000),
    'tick: describeShardsOwnedBy': () => describeShardsOwnedBy(db, id),
    'tick: markGoneWorkersDead': () => markGoneWorkersDead(db, { id, ...timeouts, silentMs: 3_600_000 }),
    'tick: freeShardsOfDeadWorkers': () => freeShardsOfDeadWorkers(db),
    'tick: listLiveWorkers': () => listLiveWorkers(db, timeouts),
    'tick: listUnownedShards': () => listUnownedShards(db),
    'move: countLinkedDevicesByOwner': () => countLinkedDevicesByOwner(db),
    'expiry: listDevicesWithExpired': () => listDevicesWithExpired(db, shards, 259_200_000),
    'poll: listDevicesWithWork': () => listDevicesWithWork(db, shards),
    'start: countLinkedDevices': () => countLinkedDevices(db, shards),
    'take: claimDevices': () => claimDevices(db, fences),
    'login: findDeviceStates': () => findDeviceStates(db, [deviceId]),
    'login: failUnlinkedMessages': () => failUnlinkedMessages(db, fence, deviceId, firstWaiting, 'x'),
    'login: findSentToday': () => findSentToday(db, deviceId, 2000),
  }
}

async function measure(run: () => Promise<unknown>, forMs: number, postgresPid: number) {
  // Postgres plans the first runs of a statement each time.
  for (let n = 0; n < 10; n++) await run()
  const [cpuBefore, startedAt] = [readCpuMs(postgresPid), performance.now()]
  let runs = 0
  while (performance.now() - startedAt < forMs) {
    await run()
    runs += 1
  }
  return {
    'Postgres CPU ms': significant((readCpuMs(postgresPid) - cpuBefore) / runs),
    'wall ms': significant((performance.now() - startedAt) / runs),
    runs,
  }
}
