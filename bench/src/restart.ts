import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { median, significant } from '@wagate/test-kit/statistics'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { buildApps } from './build-apps.ts'
import { readCpuMs } from './process-usage.ts'

type Sample = {
  way: 'SIGTERM' | 'SIGKILL'
  /** From the signal to the end of the old process, to the first login, and to the last. */
  endedMs: number
  firstMs: number
  allMs: number
  /** Until the first login. */
  startCpuMs: number
  cpuMsPerLogin: number
}

const sizes = { full: { senders: 200, rounds: 3 }, short: { senders: 24, rounds: 1 } }

/** How long senders are away when their only worker is started again. */
export async function measureRestart({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const { senders, rounds } = short ? sizes.short : sizes.full
  const options = { workers: 1, signal, ...keptIn(data), ...(await buildApps()) }
  return withSystem(options, async (system) => {
    await linkSenders(system, senderNumbers(senders))
    const samples: Sample[] = []
    for (let round = 0; round < rounds; round++) {
      for (const way of ['SIGTERM', 'SIGKILL'] as const) samples.push(await restartOnce(system, way))
    }
    return makeReport(samples, senders, rounds)
  })
}

async function restartOnce({ devnet, phones, records }: System, way: Sample['way']): Promise<Sample> {
  const senders = (await records.listLinkedSenders()).length
  await until('all are online', { withinMs: 180_000, everyMs: 100 }, async () => {
    return (await phones.countConnected()) === senders
  })
  const startedAt = performance.now()
  if (way === 'SIGTERM') await devnet.stop('worker-1')
  else await kill(devnet)
  const endedMs = performance.now() - startedAt
  await devnet.start('worker-1')
  const pid = devnet.pid('worker-1') ?? 0
  const reached = (count: number) =>
    until(`${count} are online again`, { withinMs: 180_000, everyMs: 25 }, async () => {
      const connected = await phones.countConnected()
      return connected >= count && { connected, ms: performance.now() - startedAt, cpuMs: readCpuMs(pid) }
    })
  const first = await reached(1)
  const all = await reached(senders)
  return {
    way,
    endedMs,
    firstMs: first.ms,
    allMs: all.ms,
    startCpuMs: first.cpuMs,
    cpuMsPerLogin: (all.cpuMs - first.cpuMs) / Math.max(1, all.connected - first.connected),
  }
}

/** Its sockets close with the process, so no sender counts as online by mistake. */
async function kill(devnet: System['devnet']): Promise<void> {
  devnet.signal('worker-1', 'SIGKILL')
  await until(
    'the worker is gone',
    { withinMs: 5000, everyMs: 1 },
    () => devnet.pid('worker-1') === undefined,
  )
}

function makeReport(samples: Sample[], senders: number, rounds: number): Report {
  const rows = (['SIGTERM', 'SIGKILL'] as const).map((way) => {
    const of = (field: Exclude<keyof Sample, 'way'>) =>
      median(samples.filter((sample) => sample.way === way).map((sample) => sample[field]))
    return {
      'stopped by': way,
      'ended ms': Math.round(of('endedMs')),
      'first online ms': Math.round(of('firstMs')),
      'all online ms': Math.round(of('allMs')),
      'logins took ms': Math.round(of('allMs') - of('firstMs')),
      'CPU ms to start': Math.round(of('startCpuMs')),
      'CPU ms a login': significant(of('cpuMsPerLogin')),
    }
  })
  return {
    tables: [{ title: `One worker with ${senders} senders, stopped and started at once; medians`, rows }],
    notes: [
      `${rounds} rounds of each. Times begin at the signal and include the start of Node, compiled as in the image.`,
    ],
    samples,
  }
}
