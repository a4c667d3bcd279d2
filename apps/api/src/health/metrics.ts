import { eventLoopSampleMs } from '@wagate/runtime/event-loop-sample-ms'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Readiness } from './readiness.ts'

/** Labels have few, known values: never phone numbers, messages or keys. */
export type Metrics = ReturnType<typeof makeMetrics>

export function makeMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
  return {
    registry,
    requests: new Counter({
      name: 'wagate_requests_total',
      help: 'Completed requests, by operation and status',
      labelNames: ['operation', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'wagate_request_seconds',
      help: 'Duration of requests, by operation',
      labelNames: ['operation'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    mails: new Counter({
      name: 'wagate_mails_total',
      help: 'Mails, by kind and whether the server has taken them',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
  }
}

/** How many callers follow the events of their account. */
export function addEventGauges(
  { registry }: Metrics,
  { streams, feed }: { streams: { count(): number }; feed: { countWaits(): number } },
): void {
  const gauge = (name: string, help: string, count: () => number) =>
    new Gauge({
      name: `wagate_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(count())
      },
    })
  gauge('event_streams', 'Open streams of events', streams.count)
  gauge('event_waits', 'Requests for events that wait for the next one', feed.countWaits)
}

/** Workers count what waits for their own senders. */
export function addUnownedGauge({ registry }: Metrics, count: () => Promise<number>): void {
  new Gauge({
    name: 'wagate_unowned_waiting_messages',
    help: 'Messages that are due and wait for senders without a live worker, counted up to 1000',
    registers: [registry],
    async collect() {
      this.set(await count().catch(() => Number.NaN))
    },
  })
}

/** The same facts as `/health/ready`, for alerts. One check serves all gauges of a scrape. */
export function addReadinessGauges({ registry }: Metrics, read: () => Promise<Readiness>): void {
  let reading: Promise<Readiness> | undefined
  const readOnce = () => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
  const gauge = (name: string, help: string, value: (readiness: Readiness) => number) =>
    new Gauge({
      name: `wagate_${name}`,
      help,
      registers: [registry],
      async collect() {
        this.set(value(await readOnce()))
      },
    })
  gauge('ready', '1 while sends are accepted', ({ isReady }) => Number(isReady))
  gauge('redis_available', '1 while Redis answers and keeps its keys', ({ checks }) =>
    Number(checks.redis === 'ok'),
  )
  gauge(
    'orphaned_shards',
    'Shards without a live worker; messages of their senders wait',
    ({ orphanedShards }) => orphanedShards ?? Number.NaN,
  )
}
