import { settings } from '@wagate/shared/settings'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { describeLoad, describeSize, type Installation } from './scaling/load.ts'
import { measured, product } from './scaling/measured.ts'
import { simulateMoves } from './scaling/moves.ts'

const large: Installation = { workers: 500, senders: 100_000, shards: 4096, messagesPerMinute: 1 }
const sizes: Installation[] = [
  { workers: 5, senders: 1000, shards: 256, messagesPerMinute: 1 },
  { workers: 50, senders: 10_000, shards: 256, messagesPerMinute: 1 },
  { ...large, shards: 256 },
  { ...large, shards: 1024 },
  large,
]
/** For the logins of all. */
const postgresCores = 16
/** A network on which a login takes a second, and 8 go at a time. */
const slowLoginsPerSecond = 8

/** A model of a large installation, by the product's own rules and what other benchmarks measured. The same every time. */
export async function measureScaling({ short, signal }: BenchmarkOptions): Promise<Report> {
  const installation = short ? { ...large, workers: 50, senders: 10_000, shards: 512 } : large
  const setup = {
    ...installation,
    capacity: settings.WORKER_CAPACITY.parse(undefined),
    tickMs: product.tickMs,
    heartbeatMs: settings.HEARTBEAT_MS.parse(undefined),
    leaseTtlMs: settings.LEASE_TTL_MS.parse(undefined),
    loginsPerSecond: Math.round(1000 / measured.loginCpuMs),
    loginsPerSecondOfAll: Math.round((postgresCores * 1000) / measured.perLogin.postgresMs),
  }
  const { workers, senders, shards } = installation
  const name = `${workers} workers, ${senders.toLocaleString('en')} senders, ${shards} shards`
  const moves = simulateMoves(setup, signal)
  const slowMoves = simulateMoves({ ...setup, loginsPerSecond: slowLoginsPerSecond }, signal)
  const load = describeLoad(installation)
  const installations = sizes.map(describeSize)
  return {
    tables: [
      { title: 'Sizes', rows: installations },
      {
        title: `${name}: what comes and goes, ${setup.loginsPerSecond} logins/s of a worker, ${setup.loginsPerSecondOfAll} of all`,
        rows: moves,
      },
      { title: `The same with ${slowLoginsPerSecond} logins/s of each worker`, rows: slowMoves },
      { title: `${name}: what Postgres and Redis do, a message a minute and sender`, rows: load },
    ],
    notes: [
      `Logins of all: what ${postgresCores} cores of Postgres do.`,
      'Nothing is measured here: see bench/src/scaling/measured.ts for what is taken from where.',
    ],
    samples: { moves, slowMoves, load, installations },
  }
}
