import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { auditReceived } from './inbound/audit-received.ts'
import { killWorkers } from './inbound/kill-workers.ts'
import { meetContacts } from './inbound/meet-contacts.ts'
import { type Phase, untilAllDelivered, writeAsFastAsDelivered, writeSteadily } from './inbound/phases.ts'
import { makePhoneWriter } from './inbound/phone-writer.ts'
import { type Findings, type MeasuredPhase, makeInboundReport } from './inbound/report.ts'
import { startProcessMeter } from './process-meter.ts'
import { makeProfiler, type Profiler, profiledEnvironment } from './profiler.ts'
import { addWebhook } from './subscribers/add-webhook.ts'
import { findLatestCursor, listEventsAfter } from './subscribers/event-reader.ts'
import { openWebhookTarget } from './subscribers/webhook-target.ts'

type Size = { senders: number; window: number; fastMs: number; killMs: number }

const sizes: Record<'full' | 'short', Size> = {
  full: { senders: 200, window: 500, fastMs: 40_000, killMs: 60_000 },
  short: { senders: 6, window: 60, fastMs: 4000, killMs: 6000 },
}
const workers = ['worker-1', 'worker-2']
/** The aim. With kills, a rate of which the system has some to spare: it must also catch up. */
const perSecondMax = 1000
const shareWithKills = 0.5

/** How many messages of phones reach a webhook in a second, and what becomes of them when workers are killed. */
export async function measureInbound(options: BenchmarkOptions): Promise<Report> {
  const { short, data, senders: count, signal } = options
  const chosen = short ? sizes.short : sizes.full
  const size = { ...chosen, senders: count ?? chosen.senders }
  const profiler = options.profile ? makeProfiler(options.profile) : undefined
  const profiled = profiledEnvironment(profiler, workers[0] ?? '')
  const environment = (name: string) => ({ ...profiled(name), ALLOW_PRIVATE_WEBHOOK_HOSTS: 'true' })
  const system = { workers: workers.length, environment, signal, ...keptIn(data) }
  const found = await withSystem(system, async (system) => {
    const senders = senderNumbers(size.senders, 4)
    await linkSenders(system, senders)
    await meetContacts(system, senders)
    return observe(system, { senders, size, profiler, signal })
  })
  return makeInboundReport(found, await profiler?.summarize())
}

type Setup = { senders: string[]; size: Size; profiler: Profiler | undefined; signal: AbortSignal }

async function observe(system: System, { senders, size, profiler, signal }: Setup): Promise<Findings> {
  const { devnet, gateway, phones, records } = system
  const startedAtMs = Date.now()
  const cursor = await findLatestCursor(gateway)
  const target = await openWebhookTarget('healthy')
  const settings = { url: target.url, eventsMax: 100, types: 'message.received' }
  const deleteWebhook = await addWebhook(gateway, settings)
  const writer = makePhoneWriter(phones, senders, `inbound ${startedAtMs}`)
  const progress = { writer, countDelivered: () => target.events.length }

  async function measure(name: string, work: () => Promise<Phase>): Promise<MeasuredPhase> {
    const meter = startProcessMeter(devnet)
    const from = writer.written.length
    const startedAt = performance.now()
    const phase = await work()
    await untilAllDelivered(progress)
    const totalMs = performance.now() - startedAt
    return { name, ...phase, totalMs, usages: meter.stop(), from, to: writer.written.length }
  }

  try {
    // A new webhook has no dispatcher for a moment.
    await writer.write(1)
    await untilAllDelivered(progress)

    const pid = devnet.pid('worker-1') ?? 0
    await profiler?.start(pid)
    const fast = await measure('as fast as possible', () =>
      writeAsFastAsDelivered(progress, { window: size.window, ms: size.fastMs, signal }),
    )
    await profiler?.stop(pid)
    const perSecond = Math.min(perSecondMax, Math.round((shareWithKills * fast.messages * 1000) / fast.ms))
    const killed = await measure('both workers killed', async () => {
      const killing = killWorkers(system, workers, { ms: size.killMs, signal })
      const phase = await writeSteadily(progress, { perSecond, ms: size.killMs, signal })
      await killing
      return phase
    })
    const { written } = writer
    const { events: delivered } = target
    const stored = await records.listInboundSince(startedAtMs)
    const told = await listEventsAfter(gateway, cursor, 'message.received')
    const audit = auditReceived({ written, stored, told, delivered })
    const phases = [fast, killed]
    return { senders: senders.length, phases, written, delivered, repeated: target.countRepeated(), audit }
  } finally {
    await deleteWebhook()
    target.close()
  }
}
