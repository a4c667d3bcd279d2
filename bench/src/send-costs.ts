import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { median, quantile, significant } from '@wagate/test-kit/statistics'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import { Redis } from 'ioredis'
import { type BareLoop, startBareLoop } from './bare/bare-loop.ts'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { type Group, startProcessMeter, type Usages } from './process-meter.ts'
import { makeProfiler, type Profiler, profiledEnvironment } from './profiler.ts'
import { sendTexts, type Way } from './send-costs/ways.ts'
import { countersCoolDownMs, readServerCounters, type ServerCounters } from './server-counters.ts'
import type { Row } from './table.ts'
import { withoutDecryption } from './without-decryption.ts'

type Size = { senders: number; rounds: number; coolDownMs: number; ways: Way[] }

const waysOf = (messages: number): Way[] => [
  { name: 'saturated', wait: false, atOnce: 64, messages: 4 * messages },
  { name: '50 a second', wait: false, atOnce: 64, perSecond: 50, messages: 2 * messages },
  { name: 'wait, one at a time', wait: true, atOnce: 1, messages },
  { name: 'wait, 64 at a time', wait: true, atOnce: 64, messages: 4 * messages },
]
const sizes: Record<'full' | 'short', Size> = {
  full: { senders: 20, rounds: 3, coolDownMs: countersCoolDownMs, ways: waysOf(500) },
  short: { senders: 4, rounds: 1, coolDownMs: 0, ways: waysOf(40) },
}

/** Those that Baileys alone sends in as well, in the same rounds, because the speed of the machine changes. */
const bareWays = ['saturated', '50 a second']
type BareRound = { way: string; messages: number; ms: number; cpuMs: number }

type Round = {
  way: string
  messages: number
  ms: number
  requestsMs: number[]
  usages: Usages
  counters: ServerCounters
}

const deliveredMs = 120_000

/** What a message costs each process, Postgres and Redis, by the way in which a program sends. */
export async function measureSendCosts({ short, data, profile, signal }: BenchmarkOptions): Promise<Report> {
  const size = short ? sizes.short : sizes.full
  const profiler = profile ? makeProfiler(profile) : undefined
  const environment = withoutDecryption(profiledEnvironment(profiler, 'worker-1'))
  return withSystem({ workers: 1, environment, signal, ...keptIn(data) }, async (system) => {
    const bare = await startBareLoop(system, senderNumbers(size.senders, 2), 'as in a worker')
    const db = openDatabase(system.devnet.databaseUrl, {
      poolSize: 1,
      applicationName: 'wagate-bench',
      statementTimeoutMs: 30_000,
    })
    const redis = new Redis(system.devnet.redisUrl)
    try {
      const rounds = await observe(system, { db, redis, bare, profiler }, size, signal)
      return makeReport(rounds, size, await profiler?.summarize())
    } finally {
      await bare.close()
      redis.disconnect()
      await closeDatabase(db)
    }
  })
}

type Observed = { db: Database; redis: Redis; bare: BareLoop; profiler: Profiler | undefined }
type Rounds = { ways: Round[]; bare: BareRound[] }

async function observe(
  system: System,
  { profiler, bare, ...servers }: Observed,
  { senders: count, rounds: roundCount, coolDownMs, ways }: Size,
  signal: AbortSignal,
): Promise<Rounds> {
  const { devnet, records } = system
  const senders = senderNumbers(count)
  await linkSenders(system, senders)

  async function measure(way: Way): Promise<Round> {
    const worker = devnet.pid('worker-1') ?? 0
    await profiler?.start(worker)
    const counted = await readServerCounters(servers.db, servers.redis)
    const meter = startProcessMeter(devnet)
    const startedAtMs = Date.now()
    const startedMs = performance.now()
    const requestsMs = await sendTexts(system, senders, way)
    // A count costs Postgres as much as a message or two.
    await until('all messages are delivered', { withinMs: deliveredMs, everyMs: 100 }, async () => {
      return (await records.countSince(startedAtMs, 'delivered')) >= way.messages
    })
    const ms = performance.now() - startedMs
    const usages = meter.stop()
    await profiler?.stop(worker, way.name)
    await delay(coolDownMs)
    const after = await readServerCounters(servers.db, servers.redis)
    const counters = {
      statements: after.statements - counted.statements,
      redisCommands: after.redisCommands - counted.redisCommands,
      walBytes: after.walBytes - counted.walBytes,
    }
    return { way: way.name, messages: way.messages, ms, requestsMs, usages, counters }
  }

  async function measureBare({ name, messages, perSecond }: Way): Promise<BareRound> {
    const { ms, cpuMs } = await bare.send(messages, { waitForAcks: true, ...(perSecond && { perSecond }) })
    return { way: name, messages, ms, cpuMs: cpuMs.sender }
  }

  // The first contact, with its lookups and handshakes, does not count: two messages to each recipient.
  await measure({ name: 'warm-up', wait: false, atOnce: 64, messages: count * 10 })
  await bare.send(count * 10, { waitForAcks: true })
  const rounds: Rounds = { ways: [], bare: [] }
  for (let round = 0; round < roundCount; round++) {
    for (const way of ways) {
      signal.throwIfAborted()
      rounds.ways.push(await measure(way))
      if (bareWays.includes(way.name)) rounds.bare.push(await measureBare(way))
    }
  }
  return rounds
}

function makeReport(
  rounds: Rounds,
  { senders, ways, rounds: roundCount }: Size,
  profile: string[] = [],
): Report {
  const cpu = ({ usages, messages }: Round, ...groups: Group[]) =>
    groups.reduce((total, group) => total + usages[group].cpuMs, 0) / messages
  return {
    tables: [
      {
        title: 'Medians; CPU in ms a message',
        rows: ways.map(({ name }) =>
          medianRow(rounds.ways, name, (round) => ({
            'msg/s': (round.messages / round.ms) * 1000,
            'p50 ms': quantile(round.requestsMs, 0.5),
            'p99 ms': quantile(round.requestsMs, 0.99),
            worker: cpu(round, 'workers'),
            api: cpu(round, 'api'),
            postgres: cpu(round, 'postgres'),
            redis: cpu(round, 'redis'),
            all: cpu(round, 'workers', 'api', 'postgres', 'redis'),
          })),
        ),
      },
      {
        title: 'What the servers did for a message, with what idle processes ask of them meanwhile',
        rows: ways.map(({ name }) =>
          medianRow(rounds.ways, name, ({ counters, messages }) => ({
            statements: counters.statements / messages,
            'Redis commands': counters.redisCommands / messages,
            'WAL bytes': counters.walBytes / messages,
          })),
        ),
      },
      {
        title: 'Baileys alone, as in a worker, waiting for acks',
        rows: bareWays.map((name) =>
          medianRow(rounds.bare, name, ({ ms, cpuMs, messages }) => ({
            'msg/s': (messages / ms) * 1000,
            'CPU ms': cpuMs / messages,
          })),
        ),
      },
    ],
    notes: [
      `${roundCount} rounds, ${senders} warm senders with 5 recipients each, no pacing; the simulator does not decrypt.`,
      'msg/s and CPU until all messages are delivered.',
      ...profile,
    ],
    samples: rounds,
  }
}

function medianRow<R extends { way: string }>(
  rounds: R[],
  name: string,
  figures: (round: R) => Record<string, number>,
): Row {
  const found = rounds.filter(({ way }) => way === name).map(figures)
  const medians = Object.keys(found[0] ?? {}).map((column) => [
    column,
    significant(median(found.map((figures) => figures[column] ?? Number.NaN))),
  ])
  return { way: name, ...Object.fromEntries(medians) }
}
