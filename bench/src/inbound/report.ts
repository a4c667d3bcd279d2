import { significant, spread } from '@wagate/test-kit/statistics'
import type { Report } from '../benchmark.ts'
import { groups, type Usages } from '../process-meter.ts'
import type { ReadEvent } from '../subscribers/read-event.ts'
import type { Row } from '../table.ts'
import type { ReceivedAudit } from './audit-received.ts'
import type { Phase } from './phases.ts'
import type { Written } from './phone-writer.ts'

/** Of the written messages, those `from` this place until before `to` belong to the phase. */
export type MeasuredPhase = Phase & {
  name: string
  from: number
  to: number
  totalMs: number
  usages: Usages
}

export type Findings = {
  senders: number
  phases: MeasuredPhase[]
  written: Written[]
  delivered: ReadEvent[]
  /** Events that came to the webhook once more. */
  repeated: number
  audit: ReceivedAudit
}

export function makeInboundReport(found: Findings, profile: string[] = []): Report {
  const { phases, audit, senders } = found
  const failed = Object.entries(audit).filter(([, texts]) => texts.length > 0)
  return {
    tables: [
      {
        title: `Messages from phones to ${senders} senders, until a webhook has them`,
        rows: phases.map((phase) => rateOf(phase, found)),
      },
      { title: 'CPU in ms a message, by process', rows: phases.map(cpuOf) },
      { title: 'Cores in use, by process', rows: phases.map(coresOf) },
      { title: 'Resident memory in MB, of the largest process', rows: phases.flatMap(memoryOf) },
      {
        title: 'Audit',
        rows: [
          {
            written: found.written.length,
            'not stored once': audit.notStoredOnce.length,
            'not told once': audit.notToldOnce.length,
            'not delivered': audit.notDelivered.length,
            'stored late': audit.storedLate.length,
            'told late': audit.toldLate.length,
            'delivered late': audit.deliveredLate.length,
            'delivered again': found.repeated,
          },
        ],
      },
    ],
    notes: profile,
    samples: { phases, audit },
    failure:
      failed.length > 0
        ? `Lost, doubled or disordered: ${failed.map(([name]) => name).join(', ')}`
        : undefined,
  }
}

function rateOf({ name, messages, ms, from, to }: MeasuredPhase, { written, delivered }: Findings): Row {
  const askedAt = new Map(written.slice(from, to).map(({ waId, askedAtMs }) => [waId, askedAtMs]))
  const waits = delivered.flatMap(({ message, readAtMs }) => {
    const askedAtMs = askedAt.get(message?.waId ?? '')
    return askedAtMs === undefined ? [] : [readAtMs - askedAtMs]
  })
  const { p50, p99, max } = spread(waits)
  return {
    phase: name,
    messages: to - from,
    'msg/s': significant((messages / ms) * 1000),
    'p50 ms': p50,
    'p99 ms': p99,
    'max ms': max,
  }
}

function cpuOf({ name, from, to, usages }: MeasuredPhase): Row {
  return rowOf(name, (group) => significant(usages[group].cpuMs / (to - from)))
}

function coresOf({ name, totalMs, usages }: MeasuredPhase): Row {
  return rowOf(name, (group) => significant(usages[group].cpuMs / totalMs))
}

function rowOf(phase: string, figureOf: (group: keyof Usages) => number): Row {
  return { phase, ...Object.fromEntries(groups.map((group) => [group, figureOf(group)])) }
}

/** The other processes share most of their memory, or are not the product. */
const remembered = ['workers', 'api'] as const

function memoryOf({ name, usages }: MeasuredPhase): Row[] {
  return remembered.map((process) => {
    const { atStart, peak, atEnd } = usages[process].rssMb
    return { phase: name, process, 'at start': atStart, peak, 'at end': atEnd }
  })
}
