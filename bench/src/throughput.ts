import { closeDatabase, openDatabase } from '@wagate/db/client'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { median, significant } from '@wagate/test-kit/statistics'
import { keptIn, withSystem } from '@wagate/test-kit/system'
import { type BareLoop, startBareLoop } from './bare/bare-loop.ts'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { makeProfiler, profiledEnvironment } from './profiler.ts'
import type { Row } from './table.ts'
import type { Round } from './throughput/round.ts'
import { sendThroughGateway } from './throughput/send-through-gateway.ts'
import { readWalBytes } from './wal-bytes.ts'
import { withoutDecryption } from './without-decryption.ts'

const sizes = {
  full: { senders: 20, messages: 2000, rounds: 3 },
  short: { senders: 8, messages: 400, rounds: 1 },
}

const databaseOptions = { poolSize: 1, applicationName: 'wagate-bench', statementTimeoutMs: 5000 }

/** Messages per second and CPU per message of the whole gateway with one worker, and of Baileys alone. */
export async function measureThroughput(options: BenchmarkOptions): Promise<Report> {
  const size = options.short ? sizes.short : sizes.full
  const profiler = options.profile ? makeProfiler(options.profile) : undefined
  const bareProfiler = options.profile ? makeProfiler(options.profile, 'bare') : undefined
  const environment = withoutDecryption(profiledEnvironment(profiler, 'worker-1'))
  return withSystem(
    { workers: 1, environment, ...keptIn(options.data), signal: options.signal },
    async (system) => {
      const senders = senderNumbers(size.senders)
      await linkSenders(system, senders)
      const bareLoops = [
        await startBareLoop(system, senderNumbers(size.senders, 2), 'as released'),
        await startBareLoop(system, senderNumbers(size.senders, 3), 'as in a worker', bareProfiler),
      ]
      const db = openDatabase(system.devnet.databaseUrl, databaseOptions)
      try {
        const rounds = await alternate(size, {
          async gateway(messages) {
            const before = await readWalBytes(db)
            const round = await sendThroughGateway(system, senders, messages, profiler)
            return { ...round, walBytes: (await readWalBytes(db)) - before }
          },
          bareLoops,
        })
        const profiles = [
          ...((await profiler?.summarize()) ?? []),
          ...((await bareProfiler?.summarize()) ?? []),
        ]
        return makeReport(rounds, size, profiles)
      } finally {
        await Promise.all([...bareLoops.map((loop) => loop.close()), closeDatabase(db)])
      }
    },
  )
}

type Ways = { gateway: (messages: number) => Promise<Round>; bareLoops: BareLoop[] }

async function alternate(size: (typeof sizes)['full'], { gateway, bareLoops }: Ways): Promise<Round[]> {
  // The first contact, with its lookups and handshakes, does not count: two messages to each recipient.
  await gateway(size.senders * 10)
  for (const bare of bareLoops) await bare.send(size.senders * 10, { waitForAcks: true })
  const rounds: Round[] = []
  for (let round = 0; round < size.rounds; round++) {
    rounds.push(await gateway(size.messages))
    for (const bare of bareLoops) {
      rounds.push(await bare.send(size.messages, { waitForAcks: true }))
      rounds.push(await bare.send(size.messages, { waitForAcks: false }))
    }
  }
  return rounds
}

function makeReport(rounds: Round[], size: (typeof sizes)['full'], profiles: string[]): Report {
  const ways = [...new Set(rounds.map(({ way }) => way))]
  const of = (way: string) => rounds.filter((round) => round.way === way)
  const rate = (way: string) => median(of(way).map(({ messages, ms }) => (messages / ms) * 1000))
  const cpu = (way: string, process: keyof Round['cpuMs']) =>
    median(of(way).map(({ messages, cpuMs }) => cpuMs[process] / messages))
  const [gateway = '', ...others] = ways
  const medians = ways.map((way): Row => {
    const row: Row = { way, 'msg/s': significant(rate(way)) }
    for (const process of ['sender', 'api', 'postgres', 'redis', 'simulator', 'client'] as const) {
      row[process] = significant(cpu(way, process))
    }
    const wal = of(way).flatMap(({ walBytes, messages }) => (walBytes ? [walBytes / messages] : []))
    row['WAL bytes'] = wal.length > 0 ? significant(median(wal)) : Number.NaN
    return row
  })
  const ratios = others.map(
    (way): Row => ({
      'gateway against': way,
      'msg/s': significant(rate(gateway) / rate(way)),
      'sender CPU': significant(cpu(gateway, 'sender') / cpu(way, 'sender')),
    }),
  )
  return {
    tables: [
      { title: 'Medians a message; CPU in ms by process ("sender" holds the sockets)', rows: medians },
      { title: 'Ratios of the medians', rows: ratios },
    ],
    notes: [
      `${size.rounds} rounds of ${size.messages} messages by ${size.senders} warm senders; the simulator does not decrypt.`,
      ...profiles,
    ],
    samples: rounds,
  }
}
