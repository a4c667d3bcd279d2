import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { typescript } from '@wagate/devnet/app-process'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { recipientOf, senderNumbers } from '@wagate/test-kit/load/numbers'
import { median, significant } from '@wagate/test-kit/statistics'
import { type System, withSystem } from '@wagate/test-kit/system'
import { clearQueue, fillQueue, type Queue } from './accept/fill-queue.ts'
import { load } from './accept/load.ts'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { readCpuMs } from './process-usage.ts'
import { makeProfiler, type Profiler, profiledEnvironment } from './profiler.ts'

const sizes = {
  full: { seconds: 8, rounds: 5, queue: { devices: 10_000, messages: 1_000_000 } },
  short: { seconds: 3, rounds: 1, queue: { devices: 100, messages: 10_000 } },
}
const connections = 64
const sendersMax = 20

const whileMessagesWait = 'gateway, many waiting'

type Size = (typeof sizes)['full']
type Round = { way: string; perSecond: number; p99Ms: number; failures: number; cpuMs: number }
type Target = { way: string; url: string; pid: number; apiKey: string; profiler?: Profiler | undefined }

/**
 * Accepted texts a second of one API process, against a server that does nothing and one that only asks Redis, and once
 * more while many messages wait.
 */
export async function measureAccept({ short, data, profile, signal }: BenchmarkOptions): Promise<Report> {
  const size = short ? sizes.short : sizes.full
  // A separate folder, because servers without a data folder do not wait for the disk.
  const dataFolder = data ? resolve(data) : mkdtempSync(join(tmpdir(), 'wagate-accept-'))
  const profiler = profile ? makeProfiler(profile, 'api') : undefined
  const environment = profiledEnvironment(profiler, 'api')
  const rounds = await withSystem({ workers: 1, dataFolder, environment, signal }, async (system) => {
    const senders = senderNumbers(short ? 2 : sendersMax)
    await linkSenders(system, senders)
    // This measures accepting, not sending.
    await system.devnet.stop('worker-1')
    const yardsticks = [await startYardstick('hello', system), await startYardstick('redis', system)]
    try {
      const gateway = { ...gatewayOf(system), profiler }
      const others = yardsticks.map(({ target }) => target)
      await changeQueue(system, clearQueue)
      const empty = await measureInTurn([gateway, ...others], { senders, size, signal })
      const { body } = await system.gateway.call('user-info', {})
      await changeQueue(system, (sql) => fillQueue(sql, Number(body.id), size.queue))
      const full = await measureInTurn([{ ...gateway, way: whileMessagesWait }], { senders, size, signal })
      return [...empty, ...full]
    } finally {
      for (const { child } of yardsticks) child.disconnect()
    }
  }).finally(() => data ?? rmSync(dataFolder, { recursive: true, force: true }))
  return makeReport(rounds, size.queue, await profiler?.summarize())
}

async function measureInTurn(
  targets: Target[],
  { senders, size, signal }: { senders: string[]; size: Size; signal: AbortSignal },
): Promise<Round[]> {
  const rounds: Round[] = []
  for (const target of targets) await accept(target, senders, 2)
  for (let round = 0; round < size.rounds; round++) {
    for (const target of targets) {
      signal.throwIfAborted()
      await target.profiler?.start(target.pid)
      rounds.push(await accept(target, senders, size.seconds))
      await target.profiler?.stop(target.pid, target.way)
    }
  }
  return rounds
}

async function changeQueue(
  { devnet }: System,
  change: (sql: Database['$client']) => Promise<void>,
): Promise<void> {
  const options = { poolSize: 1, applicationName: 'bench', statementTimeoutMs: 600_000 }
  const db = openDatabase(devnet.databaseUrl, options)
  try {
    await change(db.$client)
  } finally {
    await closeDatabase(db)
  }
}

function gatewayOf({ devnet }: System): Target {
  return {
    way: 'gateway',
    url: devnet.apiUrl,
    pid: devnet.pid('api') ?? 0,
    apiKey: devnet.adminKey.apiKey ?? '',
  }
}

async function startYardstick(
  kind: 'hello' | 'redis',
  { devnet }: System,
): Promise<{ child: ChildProcess; target: Target }> {
  const program = fileURLToPath(new URL('./accept/yardstick.ts', import.meta.url))
  const child = fork(program, [kind, devnet.redisUrl], {
    execArgv: ['--import', typescript, '--conditions=source'],
  })
  const [port] = await once(child, 'message')
  const way = kind === 'hello' ? 'Hono hello' : 'Redis only'
  return { child, target: { way, url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, apiKey: '' } }
}

async function accept({ way, url, pid, apiKey }: Target, senders: string[], seconds: number): Promise<Round> {
  const before = readCpuMs(pid)
  const { answers, failures, ms, p99Ms } = await load({
    url,
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    bodies: senders.map((sender, index) =>
      JSON.stringify({ sender, number: recipientOf(sender, index), message: 'A text to be accepted' }),
    ),
    connections,
    ms: seconds * 1000,
  })
  return {
    way,
    perSecond: (answers * 1000) / ms,
    p99Ms,
    failures,
    cpuMs: (readCpuMs(pid) - before) / answers,
  }
}

function makeReport(rounds: Round[], { devices, messages }: Queue, profile: string[] = []): Report {
  const ways = [...new Set(rounds.map(({ way }) => way))]
  const of = (way: string, figure: keyof Omit<Round, 'way'>) =>
    median(rounds.filter((round) => round.way === way).map((round) => round[figure]))
  const rows = ways.map((way) => ({
    way,
    'requests/s': significant(of(way, 'perSecond')),
    'p99 ms': significant(of(way, 'p99Ms')),
    'CPU ms a request': significant(of(way, 'cpuMs')),
    failures: rounds
      .filter((round) => round.way === way)
      .reduce((total, { failures }) => total + failures, 0),
  }))
  const ratios = ways.slice(1).map((way) => ({
    'gateway against': way,
    'requests/s': significant(of('gateway', 'perSecond') / of(way, 'perSecond')),
  }))
  return {
    tables: [
      { title: `Medians, ${connections} connections, a text each`, rows },
      { title: 'Ratios of the medians', rows: ratios },
    ],
    notes: [
      ...profile,
      'The gateway answers when the message is on the disk of Postgres; Redis writes behind its answers (appendfsync everysec). The API writes no line for each request here (LOG_LEVEL=warn).',
      `Many waiting: ${messages} messages more, for ${devices} other senders of the account.`,
    ],
    samples: rounds,
  }
}
