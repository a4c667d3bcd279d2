import { median, significant } from '@wagate/test-kit/statistics'
import type { Report } from '../benchmark.ts'
import { type Group, groups } from '../process-meter.ts'
import type { Row } from '../table.ts'
import type { CostRound } from './costs.ts'
import { besides, type LatencyRound } from './latencies.ts'
import { type Way, ways } from './subscribers.ts'

type Findings = { costs: CostRound[]; latencies: LatencyRound[] }

export function makeEventsReport({ costs, latencies }: Findings): Report {
  return {
    tables: [
      { title: 'Accepting; CPU in ms a message, by process', rows: costRows(costs, 'accept') },
      { title: 'Sending; CPU in ms a message, by process', rows: costRows(costs, 'send') },
      { title: 'Ratios to no subscriber', rows: ratioRows(costs) },
      {
        title: 'From the acceptance of an event to a healthy webhook',
        rows: besides.map((beside) => latencyRow(latencies, beside)),
      },
    ],
    notes: ['Medians of the rounds.'],
    samples: { costs, latencies },
    failure: latencies.some(({ events, delivered }) => delivered < events)
      ? 'Not all events were delivered within a minute.'
      : undefined,
  }
}

function costRows(costs: CostRound[], work: CostRound['work']): Row[] {
  return ways.map((way) => {
    const rounds = roundsOf(costs, work, way)
    const row: Row = {
      beside: way,
      'msg/s': significant(rateOf(rounds)),
      'WAL bytes': Math.round(median(rounds.map(({ walBytes, messages }) => walBytes / messages))),
    }
    for (const group of groups) row[group] = significant(cpuOf(rounds, group))
    return row
  })
}

/** CPU of all processes but the simulator and the load. */
const product = ['workers', 'api', 'postgres', 'redis'] as const satisfies Group[]

function ratioRows(costs: CostRound[]): Row[] {
  return (['accept', 'send'] as const).flatMap((work) =>
    ways.slice(1).map((way) => {
      const [without, rounds] = [roundsOf(costs, work, ways[0]), roundsOf(costs, work, way)]
      const cpu = (of: CostRound[]) => product.reduce((sum, group) => sum + cpuOf(of, group), 0)
      return {
        work,
        beside: way,
        'msg/s': significant(rateOf(rounds) / rateOf(without)),
        'CPU of the gateway': significant(cpu(rounds) / cpu(without)),
      }
    }),
  )
}

function roundsOf(costs: CostRound[], work: CostRound['work'], way: Way): CostRound[] {
  return costs.filter((round) => round.work === work && round.way === way)
}

function rateOf(rounds: CostRound[]): number {
  return median(rounds.map(({ messages, ms }) => (messages / ms) * 1000))
}

function cpuOf(rounds: CostRound[], group: Group): number {
  return median(rounds.map(({ usages, messages }) => usages[group].cpuMs / messages))
}

function latencyRow(latencies: LatencyRound[], beside: LatencyRound['beside']): Row {
  const rounds = latencies.filter((round) => round.beside === beside)
  const middle = (of: (round: LatencyRound) => number) => Math.round(median(rounds.map(of)))
  return {
    beside,
    events: rounds.reduce((sum, { events }) => sum + events, 0),
    delivered: rounds.reduce((sum, { delivered }) => sum + delivered, 0),
    'p50 ms': middle(({ waitMs }) => waitMs.p50),
    'p99 ms': middle(({ waitMs }) => waitMs.p99),
    'max ms': Math.max(...rounds.map(({ waitMs }) => waitMs.max)),
    'worker CPU ms': significant(median(rounds.map(({ usages, events }) => usages.workers.cpuMs / events))),
    'Postgres CPU ms': significant(
      median(rounds.map(({ usages, events }) => usages.postgres.cpuMs / events)),
    ),
  }
}
