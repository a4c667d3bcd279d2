import { Counter, Gauge, type Registry } from 'prom-client'

export type DispatcherMetrics = ReturnType<typeof makeDispatcherMetrics>

export type DispatcherReadings = { owned: number; lagSeconds: number; waiting: number; failing: number }

export function makeDispatcherMetrics(registry: Registry) {
  const registers = [registry]
  return {
    registry,
    requests: new Counter({
      name: 'wagate_webhook_requests_total',
      help: 'Requests to webhooks, by what came of them',
      labelNames: ['result'] as const,
      registers,
    }),
    abandoned: new Counter({
      name: 'wagate_webhook_deliveries_failed_total',
      help: 'Deliveries whose last attempt has failed',
      registers,
    }),
    disabled: new Counter({
      name: 'wagate_webhooks_disabled_total',
      help: 'Webhooks that were disabled because of their target, by reason',
      labelNames: ['reason'] as const,
      registers,
    }),
  }
}

/** Gauges are read at each scrape. */
export function addDispatcherGauges({ registry }: DispatcherMetrics, read: () => DispatcherReadings): void {
  const gauge = (name: string, help: string, value: (readings: DispatcherReadings) => number) =>
    new Gauge({
      name: `wagate_webhook${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(value(read()))
      },
    })
  gauge('s_owned', 'Webhooks that this process delivers', ({ owned }) => owned)
  gauge('s_failing', 'Webhooks of this process whose last requests have failed', ({ failing }) => failing)
  gauge(
    '_deliveries_waiting',
    'Deliveries to webhooks of this process that wait for their next attempt',
    ({ waiting }) => waiting,
  )
  gauge(
    '_lag_seconds',
    'Age of the oldest event that waits for its first attempt, of all webhooks of this process',
    ({ lagSeconds }) => lagSeconds,
  )
}
