import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { recipientOf, senderNumbers } from '@wagate/test-kit/load/numbers'
import { readRssBytes } from '@wagate/test-kit/resident-memory'
import { significant } from '@wagate/test-kit/statistics'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import { Redis } from 'ioredis'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { readCpuMs } from './process-usage.ts'
import {
  countersCoolDownMs,
  readRedisInfo,
  readServerCounters,
  type ServerCounters,
} from './server-counters.ts'

/** `restMs`: until garbage collection and compilation after the logins have ended, and unused connections have closed. */
const sizes = {
  full: { shardCounts: [64, 1024, 4096], senders: 24, restMs: 150_000, seconds: 30, messages: 240 },
  short: { shardCounts: [256], senders: 4, restMs: 0, seconds: 10, messages: 40 },
}

type Load = { senders: string[]; restMs: number; seconds: number; messages: number }

type Counters = ServerCounters & {
  workerCpuMs: number
  apiCpuMs: number
  postgresCpuMs: number
  redisCpuMs: number
}
type Sample = {
  shards: number
  perSecond: Counters
  /** Beyond the needs of an idle worker, one message after the other. */
  perMessage: Counters
  perLogin: Counters
  connections: { postgres: number; redis: number }
  rssMb: number
}

/** The load of one worker on Postgres and Redis: idle, for a message and for a login, by its number of shards. */
export async function measureIdle({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const { shardCounts, senders, restMs, seconds, messages } = short ? sizes.short : sizes.full
  const samples: Sample[] = []
  for (const shards of shardCounts) {
    const kept = data ? keptIn(`${data}-${shards}`) : {}
    const sample = await withSystem({ workers: 1, shards, signal, ...kept }, async (system) => {
      const numbers = senderNumbers(senders)
      await linkSenders(system, numbers)
      return { shards, ...(await observe(system, { senders: numbers, restMs, seconds, messages })) }
    })
    samples.push(sample)
  }
  const rowsOf = (of: (sample: Sample) => Counters) =>
    samples.map((sample) => ({ shards: sample.shards, ...rowOf(of(sample)) }))
  const connections = samples.map(({ shards, connections, rssMb }) => ({
    shards,
    'to Postgres': connections.postgres,
    'to Redis': connections.redis,
    'RSS MB': rssMb,
  }))
  return {
    tables: [
      {
        title: `A second of one worker with ${senders} idle senders`,
        rows: rowsOf(({ perSecond }) => perSecond),
      },
      { title: 'A message, one after the other', rows: rowsOf(({ perMessage }) => perMessage) },
      { title: 'A login', rows: rowsOf(({ perLogin }) => perLogin) },
      { title: 'Connections of the worker', rows: connections },
    ],
    notes: [
      `At rest for ${restMs / 1000} s, then idle for ${seconds} s; statements are the transactions of all processes. The figures for messages, logins and receipts are without the needs of an idle worker.`,
    ],
    samples,
  }
}

function rowOf(counters: Counters) {
  const { statements, redisCommands, workerCpuMs, apiCpuMs, postgresCpuMs, redisCpuMs } = counters
  return {
    statements: significant(statements),
    'Redis commands': significant(redisCommands),
    'worker CPU ms': significant(workerCpuMs),
    'API CPU ms': significant(apiCpuMs),
    'Postgres CPU ms': significant(postgresCpuMs),
    'Redis CPU ms': significant(redisCpuMs),
  }
}

async function observe(
  { devnet, gateway, phones }: System,
  { senders, restMs, seconds, messages }: Load,
): Promise<Omit<Sample, 'shards'>> {
  const db = openDatabase(devnet.databaseUrl, {
    poolSize: 1,
    applicationName: 'wagate-bench',
    statementTimeoutMs: 5000,
  })
  const redis = new Redis(devnet.redisUrl)
  const cpuOf = (name: string) => readCpuMs(devnet.pid(name) ?? 0)

  /** The cost of the work, including the time until Postgres has updated its counters. */
  async function during(work: () => Promise<unknown>): Promise<Counters & { seconds: number }> {
    const read = async (): Promise<Counters & { seconds: number }> => ({
      seconds: performance.now() / 1000,
      ...(await readServerCounters(db, redis)),
      workerCpuMs: devnet.pid('worker-1') ? cpuOf('worker-1') : 0,
      apiCpuMs: cpuOf('api'),
      postgresCpuMs: cpuOf('postgres'),
      redisCpuMs: cpuOf('redis'),
    })
    const before = await read()
    await work()
    await delay(countersCoolDownMs)
    const after = await read()
    return mapCounters(after, (figure) => after[figure] - before[figure])
  }

  try {
    await delay(countersCoolDownMs + restMs)
    const idle = await during(() => delay(seconds * 1000))
    const perSecond = mapCounters(idle, (figure) => idle[figure] / idle.seconds)
    const beyondIdle = (used: Counters & { seconds: number }, times: number) =>
      mapCounters(used, (figure) => (used[figure] - perSecond[figure] * used.seconds) / times)
    const rssMb = Math.round(readRssBytes(devnet.pid('worker-1') ?? 0) / 2 ** 20)

    const send = async (index: number) => {
      const sender = senders[index % senders.length] ?? ''
      const number = recipientOf(sender, 0)
      await gateway.call('send-message', { sender, number, message: 'A text', wait: 10 })
    }
    // The first contact, with its lookups and handshakes, does not count.
    for (let index = 0; index < senders.length; index++) await send(index)
    await delay(countersCoolDownMs)
    const sent = await during(async () => {
      for (let index = 0; index < messages; index++) await send(index)
    })

    const postgres = await countBackends(db)
    const clients = await readRedisInfo(redis, 'connected_clients')
    await devnet.stop('worker-1')
    const connections = { postgres, redis: clients - (await readRedisInfo(redis, 'connected_clients')) }
    const started = await during(async () => {
      await devnet.start('worker-1')
      await until('all are online', { withinMs: 120_000, everyMs: 100 }, async () => {
        return (await phones.countConnected()) === senders.length
      })
    })
    return {
      perSecond,
      perMessage: beyondIdle(sent, messages),
      perLogin: beyondIdle(started, senders.length),
      connections,
      rssMb,
    }
  } finally {
    redis.disconnect()
    await closeDatabase(db)
  }
}

function mapCounters<Figures extends Counters>(
  figures: Figures,
  of: (figure: keyof Figures) => number,
): Figures {
  return Object.fromEntries(
    Object.keys(figures).map((figure) => [figure, of(figure as keyof Figures)]),
  ) as Figures
}

async function countBackends(db: Database): Promise<number> {
  const [row] = await db.$client<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name LIKE 'wagate-worker%'`
  return row?.count ?? Number.NaN
}
