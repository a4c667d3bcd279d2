import { auditHistory, type History } from '@wagate/test-kit/load/history'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { type Load, startLoad } from '@wagate/test-kit/load/load'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { isFinished, type MessageFacts } from '@wagate/test-kit/load/records'
import { quantile, significant, spread } from '@wagate/test-kit/statistics'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { causeFault, type Fault, type Way } from './failover/faults.ts'
import { measureRecovery } from './failover/recovery.ts'
import type { Row } from './table.ts'

const sizes = {
  full: { senders: 20, perSecond: 40, kills: 10, others: 5 },
  short: { senders: 6, perSecond: 20, kills: 1, others: 0 },
}
const finishMs = 60_000
/** The limit for all senders of a killed worker to be online again, with one worker left. */
const aimMs = 8000
const aimMsPerSender = 30

/** The effect on senders and clients when a worker stops or dies under a steady light load. */
export async function measureFailover({
  short,
  data,
  kills,
  senders: count,
  signal,
}: BenchmarkOptions): Promise<Report> {
  const chosen = short ? sizes.short : sizes.full
  const size = { ...chosen, senders: count ?? chosen.senders }
  const ways: Way[] = [
    ...Array<Way>(kills ?? size.kills).fill('SIGKILL, other worker'),
    ...Array<Way>(size.others).fill('SIGKILL, same name again'),
    ...Array<Way>(size.others).fill('SIGTERM, other worker'),
  ]
  return withSystem({ workers: 2, ...keptIn(data), signal }, async (system) => {
    const senders = senderNumbers(size.senders)
    await linkSenders(system, senders)
    // A kept data folder may contain messages of an earlier run.
    await until('nothing waits', { withinMs: 120_000, everyMs: 200 }, async () => {
      return (await system.records.countWaiting()) === 0
    })
    const logged = (await system.phones.log()).length
    const startedAtMs = Date.now()
    const load = startLoad(system.gateway, {
      senders,
      perSecond: size.perSecond,
      name: `failover ${startedAtMs}`,
    })
    const faults: Fault[] = []
    try {
      for (const way of ways) {
        signal.throwIfAborted()
        faults.push(await causeFault(system, way))
      }
    } finally {
      await load.stop()
    }
    const messages = await untilFinished(system, startedAtMs)
    const history = auditHistory(load.sent, messages, (await system.phones.log()).slice(logged))
    return makeReport({ faults, messages, load, history }, size)
  })
}

/** The messages, once none of them is waiting, or as they are after a minute. */
async function untilFinished({ records }: System, startedAtMs: number): Promise<MessageFacts[]> {
  await until('every message is finished', { withinMs: finishMs, everyMs: 500 }, async () => {
    return (await records.listMessagesSince(startedAtMs)).every(isFinished)
  }).catch(() => undefined)
  return records.listMessagesSince(startedAtMs)
}

type Findings = { faults: Fault[]; messages: MessageFacts[]; load: Load; history: History }

function makeReport({ faults, messages, load, history }: Findings, size: (typeof sizes)['full']): Report {
  const recoveries = faults.map((fault) => ({ ...fault, ...measureRecovery(fault, messages) }))
  const ways = [...new Set(faults.map(({ way }) => way))]
  const rows = ways.map((way): Row => {
    const of = recoveries.filter((recovery) => recovery.way === way)
    const next = spread(of.flatMap(({ nextSentMs }) => nextSentMs))
    const waits = spread(of.flatMap(({ longestWaitMs }) => longestWaitMs))
    return {
      way,
      times: of.length,
      'senders p50': quantile(
        of.map(({ senders }) => senders.length),
        0.5,
      ),
      'ended p50': Math.round(
        quantile(
          of.map(({ at, endedAt }) => endedAt - at),
          0.5,
        ),
      ),
      'first sender p50': spread(
        of.flatMap(({ nextSentMs }) => nextSentMs.toSorted((a, b) => a - b).slice(0, 1)),
      ).p50,
      'last sender p50': spread(
        of.flatMap(({ nextSentMs }) => nextSentMs.toSorted((a, b) => b - a).slice(0, 1)),
      ).p50,
      'all online p50': Math.round(
        quantile(
          of.map(({ at, onlineAt }) => onlineAt - at),
          0.5,
        ),
      ),
      'of the aim': significant(
        quantile(
          of.map(({ at, onlineAt, senders }) => (onlineAt - at) / (aimMs + aimMsPerSender * senders.length)),
          0.5,
        ),
      ),
      'each p50': next.p50,
      'each p99': next.p99,
      'each max': next.max,
      'longest wait p50': waits.p50,
      'longest wait max': waits.max,
      silent: of.reduce((total, { silent }) => total + silent, 0),
    }
  })
  const { lost, doubled, disordered, dishonest, overlapping } = history.violations
  const refused = load.sent.flatMap(({ attempts }) => attempts.filter(({ status }) => status !== 200))
  const outcome = {
    accepted: history.accepted,
    'requests refused': refused.length,
    lost: lost.length,
    doubled: doubled.length,
    'repeated, same id': history.repeated,
    disordered: disordered.length,
    dishonest: dishonest.length,
    overlapping: overlapping.length,
  }
  return {
    tables: [
      { title: "ms from the signal to the next sent message of the worker's senders", rows },
      { title: 'Messages over all faults', rows: [outcome] },
    ],
    notes: [`${size.senders} senders, ${size.perSecond} messages a second, two workers, lease of 6 s.`],
    samples: { recoveries, refused, history },
  }
}
