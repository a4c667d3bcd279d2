import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { readRssBytes } from '@wagate/test-kit/resident-memory'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { buildApps } from './build-apps.ts'
import { memoryProbe, readHeapBytes } from './memory-probe.ts'

type Sample = { senders: number; afterLogin: number; settled: number; collected: number; heap: number }

const sizes = {
  full: { counts: [1, 50, 200], coolDownMs: 50_000 },
  short: { counts: [1, 8, 24], coolDownMs: 2000 },
}

/**
 * Resident memory of a worker by its number of idle senders. The worker is restarted for each number, with exactly that
 * capacity, so that memory left over from pairing does not count.
 */
export async function measureMemory({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const { counts, coolDownMs } = short ? sizes.short : sizes.full
  const most = Math.max(...counts)
  const folder = mkdtempSync(join(tmpdir(), 'wagate-bench-'))
  const file = join(folder, 'memory.json')
  let capacity = most
  const environment = (name: string): NodeJS.ProcessEnv =>
    name === 'worker-1' ? { WORKER_CAPACITY: String(capacity), ...memoryProbe(file) } : {}
  const options = { workers: 1, environment, signal, ...keptIn(data), ...(await buildApps()) }
  try {
    return await withSystem(options, async (system) => {
      await linkSenders(system, senderNumbers(most))
      const samples: Sample[] = []
      for (const count of counts) {
        capacity = count
        await restart(system, count)
        samples.push({
          senders: count,
          ...(await weigh(system.devnet.pid('worker-1') ?? 0, file, coolDownMs)),
        })
      }
      return makeReport(samples, coolDownMs)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function restart({ devnet, phones }: System, senders: number): Promise<void> {
  await devnet.stop('worker-1')
  await devnet.start('worker-1')
  await until(`${senders} senders are online`, { withinMs: 180_000, everyMs: 100 }, async () => {
    return (await phones.countConnected()) === senders
  })
}

async function weigh(pid: number, file: string, coolDownMs: number): Promise<Omit<Sample, 'senders'>> {
  const afterLogin = readRssBytes(pid)
  await delay(coolDownMs)
  const settled = readRssBytes(pid)
  const heap = await readHeapBytes(pid, file)
  return { afterLogin, settled, collected: readRssBytes(pid), heap }
}

function makeReport(samples: Sample[], coolDownMs: number): Report {
  const mb = (bytes: number) => Math.round(bytes / 2 ** 20)
  const [first, last] = [samples.at(0), samples.at(-1)]
  const perSender = (of: (sample: Sample) => number) =>
    first && last ? Math.round((of(last) - of(first)) / (last.senders - first.senders) / 1024) : Number.NaN
  const rows = samples.map((sample) => ({
    'idle senders': sample.senders,
    'after login': mb(sample.afterLogin),
    settled: mb(sample.settled),
    'after GC': mb(sample.collected),
    'heap after GC': mb(sample.heap),
  }))
  const increments = [
    {
      'KB a sender': `${first?.senders} to ${last?.senders}`,
      'after login': perSender((sample) => sample.afterLogin),
      settled: perSender((sample) => sample.settled),
      'after GC': perSender((sample) => sample.collected),
      'heap after GC': perSender((sample) => sample.heap),
    },
  ]
  return {
    tables: [
      { title: 'Resident memory of one worker, MB', rows },
      { title: 'What one more sender costs, KB', rows: increments },
    ],
    notes: [
      `"settled" is ${coolDownMs / 1000} s after the logins. The worker owns all 256 shards in every row.`,
    ],
    samples,
  }
}
