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
/** Bounds the logins of all workers together. */
const postgresCores = 16
/** On a network where a login takes a second, with 8 concurrent logins. */
const slowLoginsPerSecond = 8

/** A model of a large installation: the planner of the product with measured costs. The result is the same every time. */
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
        title: `${name}: workers join and leave, ${setup.loginsPerSecond} logins/s per worker, ${setup.loginsPerSecondOfAll} in total`,
        rows: moves,
      },
      { title: `The same with ${slowLoginsPerSecond} logins/s per worker`, rows: slowMoves },
      { title: `${name}: load on Postgres and Redis, one message a minute per sender`, rows: load },
    ],
    notes: [
      `Total logins: what ${postgresCores} cores of Postgres can do.`,
      'This is a model. bench/src/scaling/measured.ts lists the measurements it uses.',
    ],
    samples: { moves, slowMoves, load, installations },
  }
}
