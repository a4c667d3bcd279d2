import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { keptIn, withSystem } from '@wagate/test-kit/system'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { startEventReader } from './event-reader.ts'
import { auditReceived } from './inbound/audit-received.ts'
import { killWorkers } from './inbound/kill-workers.ts'
import { meetContacts } from './inbound/meet-contacts.ts'
import { type Phase, untilAllTold, writeAsFastAsTold, writeSteadily } from './inbound/phases.ts'
import { makePhoneWriter } from './inbound/phone-writer.ts'
import { type MeasuredPhase, makeInboundReport } from './inbound/report.ts'
import { startProcessMeter } from './process-meter.ts'
import { makeWorkerProfiler } from './profile-worker.ts'

const sizes = {
  full: { senders: 200, window: 500, fastMs: 40_000, killMs: 60_000 },
  short: { senders: 6, window: 60, fastMs: 4000, killMs: 8000 },
}
const workers = ['worker-1', 'worker-2']
/** The aim. With kills, a rate of which the system has some to spare: it must also catch up. */
const perSecondMax = 1000
const shareWithKills = 0.5

/** Messages from phones: how many a second are stored and told to a reader of events, and what becomes of them when workers are killed. */
export async function measureInbound(options: BenchmarkOptions): Promise<Report> {
  const { short, data, senders: count, signal } = options
  const chosen = short ? sizes.short : sizes.full
  const size = { ...chosen, senders: count ?? chosen.senders }
  const profiler = options.profile ? makeWorkerProfiler(options.profile) : undefined
  const environment = (name: string) => (name === 'worker-1' && profiler ? profiler.environment : {})
  const found = await withSystem(
    { workers: workers.length, environment, signal, ...keptIn(data) },
    async (system) => {
      const senders = senderNumbers(size.senders, 4)
      await linkSenders(system, senders)
      await meetContacts(system, senders)
      const startedAtMs = Date.now()
      const reader = await startEventReader(system.gateway, 'message.received')
      const writer = makePhoneWriter(system.phones, senders, `inbound ${startedAtMs}`)
      const progress = { writer, countTold: () => reader.events.length }

      async function measure(name: string, work: () => Promise<Phase>): Promise<MeasuredPhase> {
        const meter = startProcessMeter(system.devnet)
        const from = writer.written.length
        const startedAt = performance.now()
        const phase = await work()
        await untilAllTold(progress)
        const totalMs = performance.now() - startedAt
        return { name, ...phase, totalMs, usages: meter.stop(), from, to: writer.written.length }
      }

      const pid = system.devnet.pid('worker-1') ?? 0
      await profiler?.start(pid)
      const fast = await measure('as fast as possible', () =>
        writeAsFastAsTold(progress, { window: size.window, ms: size.fastMs, signal }),
      )
      await profiler?.stop(pid)
      const perSecond = Math.min(perSecondMax, Math.round((shareWithKills * fast.messages * 1000) / fast.ms))
      const killed = await measure('both workers killed', async () => {
        const killing = killWorkers(system, workers, { ms: size.killMs, signal })
        const phase = await writeSteadily(progress, { perSecond, ms: size.killMs, signal })
        await killing
        return phase
      })
      await reader.stop()
      const stored = await system.records.listInboundSince(startedAtMs)
      const audit = auditReceived({ written: writer.written, stored, told: reader.events })
      return {
        phases: [fast, killed],
        written: writer.written,
        told: reader.events,
        audit,
        senders: size.senders,
      }
    },
  )
  return makeInboundReport(found, await profiler?.summarize())
}
