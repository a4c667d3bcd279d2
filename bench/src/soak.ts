import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { startLoad } from '@wagate/test-kit/load/load'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { significant } from '@wagate/test-kit/statistics'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import { Redis } from 'ioredis'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { writeSteadily } from './inbound/phases.ts'
import { makePhoneWriter } from './inbound/phone-writer.ts'
import { groups, startProcessMeter, type Usages } from './process-meter.ts'
import { readServerCounters } from './server-counters.ts'
import { disturb } from './soak/disturb.ts'
import { type MemoryTrend, watchMemory } from './soak/memory-trend.ts'
import type { Row } from './table.ts'
import { withoutDecryption } from './without-decryption.ts'

/** The first period is the warm-up. */
type Size = {
  senders: number
  perSecond: number
  inboundPerSecond: number
  periods: number
  periodMs: number
}

const sizes: Record<'full' | 'short', Size> = {
  full: { senders: 40, perSecond: 150, inboundPerSecond: 20, periods: 7, periodMs: 600_000 },
  short: { senders: 4, perSecond: 20, inboundPerSecond: 5, periods: 3, periodMs: 6000 },
}
const mediaShare = 0.01
const finishMs = 120_000
/** The aim, for every process of the product. */
const percentMax = 2

type Period = {
  sent: number
  received: number
  statements: number
  walBytes: number
  usages: Usages
  deadRows: number
  keysMb: number
}
type Findings = { periods: Period[]; trends: MemoryTrend[]; accepted: number; undelivered: number }

/** What an hour of load with media, received messages and reconnects changes: memory, costs, and rows left to vacuum. */
export async function measureSoak({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const size = short ? sizes.short : sizes.full
  const options = { workers: 2, environment: withoutDecryption(() => ({})), signal, ...keptIn(data) }
  return withSystem(options, async (system) => {
    const senders = senderNumbers(size.senders)
    await linkSenders(system, senders)
    const db = openDatabase(system.devnet.databaseUrl, {
      poolSize: 1,
      applicationName: 'wagate-bench',
      statementTimeoutMs: 30_000,
    })
    const redis = new Redis(system.devnet.redisUrl)
    try {
      return makeReport(await observe(system, { db, redis }, senders, size), size, short)
    } finally {
      redis.disconnect()
      await closeDatabase(db)
    }
  })
}

async function observe(
  system: System,
  servers: { db: Database; redis: Redis },
  senders: string[],
  { perSecond, inboundPerSecond, periods: count, periodMs }: Size,
): Promise<Findings> {
  const { devnet, gateway, phones, records } = system
  const startedAtMs = Date.now()
  const ending = new AbortController()
  const disturbing = disturb(system, senders, ending.signal)
  const memory = watchMemory(devnet, periodMs)
  const load = startLoad(gateway, {
    senders,
    perSecond,
    name: `soak ${startedAtMs}`,
    mix: { media: mediaShare },
  })
  const periods: Period[] = []
  try {
    for (let period = 0; period < count; period++) {
      const writer = makePhoneWriter(phones, senders, `soak ${startedAtMs} ${period}`)
      const before = await readServerCounters(servers.db, servers.redis)
      const meter = startProcessMeter(devnet)
      const sentBefore = load.sent.length
      const received = await writeSteadily(
        { writer, countDelivered: () => 0 },
        { perSecond: inboundPerSecond, ms: periodMs, signal: ending.signal },
      )
      const usages = meter.stop()
      const after = await readServerCounters(servers.db, servers.redis)
      periods.push({
        sent: load.sent.length - sentBefore,
        received: received.messages,
        statements: after.statements - before.statements,
        walBytes: after.walBytes - before.walBytes,
        usages,
        ...(await readTables(servers.db)),
      })
    }
  } finally {
    ending.abort()
    await disturbing
    await load.stop()
  }
  const trends = memory.stop()
  const accepted = load.sent.filter(({ messageId }) => messageId !== undefined).length
  const countDelivered = () => records.countSince(startedAtMs, 'delivered')
  await until('all messages are delivered', { withinMs: finishMs, everyMs: 500 }, async () => {
    return (await countDelivered()) >= accepted
  }).catch(() => undefined)
  return { periods, trends, accepted, undelivered: accepted - (await countDelivered()) }
}

/** Rows that autovacuum has not removed yet, and the size of the table whose rows change with every message. */
async function readTables({ $client: sql }: Database): Promise<Pick<Period, 'deadRows' | 'keysMb'>> {
  const [row] = await sql<{ deadRows: number; keysMb: number }[]>`
    SELECT sum(n_dead_tup)::float8 AS "deadRows",
      pg_total_relation_size('device_auth')::float8 / 1048576 AS "keysMb"
    FROM pg_stat_user_tables`
  return row ?? { deadRows: Number.NaN, keysMb: Number.NaN }
}

function makeReport(
  { periods, trends, accepted, undelivered }: Findings,
  { senders, perSecond, inboundPerSecond, periodMs }: Size,
  isShort: boolean,
): Report {
  const growing = trends.filter(
    ({ process, percentPerTenMinutes }) => process !== 'simulator' && percentPerTenMinutes > percentMax,
  )
  const failures = [
    ...(undelivered > 0 ? [`${undelivered} messages were not delivered.`] : []),
    // In a few seconds, memory says nothing.
    ...(isShort ? [] : growing.map(({ process }) => `The memory of ${process} grows.`)),
  ]
  return {
    tables: [
      {
        title: `Periods of ${periodMs / 1000} s; CPU in ms a message, sent or received`,
        rows: periods.map(rowOf),
      },
      {
        title: 'Resident memory in MB after the first period, by process',
        rows: trends.map(({ process, startMb, endMb, peakMb, percentPerTenMinutes }) => ({
          process,
          start: startMb,
          end: endMb,
          peak: peakMb,
          '% in 10 min': significant(percentPerTenMinutes, 2),
        })),
      },
      { title: 'Messages', rows: [{ accepted, 'not delivered': undelivered }] },
    ],
    notes: [
      `${senders} senders, ${perSecond} messages a second, one in a hundred a file, and ${inboundPerSecond} received. A connection ends every 5 s.`,
    ],
    samples: { periods, trends },
    failure: failures.length > 0 ? failures.join(' ') : undefined,
  }
}

function rowOf(
  { sent, received, statements, walBytes, usages, deadRows, keysMb }: Period,
  index: number,
): Row {
  const messages = sent + received
  const cpu = (group: (typeof groups)[number]) => significant(usages[group].cpuMs / messages)
  return {
    period: index + 1,
    sent,
    received,
    ...Object.fromEntries(groups.filter((group) => group !== 'client').map((group) => [group, cpu(group)])),
    statements: significant(statements / messages),
    'WAL bytes': significant(walBytes / messages, 4),
    'dead rows': deadRows,
    'keys MB': significant(keysMb),
  }
}
