import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** What this process counts. Never a phone number, a message or a key: label values are few and known. */
export type Metrics = ReturnType<typeof makeMetrics>

export function makeMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    requests: new Counter({
      name: 'wagate_requests_total',
      help: 'Requests that were answered, by operation and status',
      labelNames: ['operation', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'wagate_request_seconds',
      help: 'From a request to its answer, by operation',
      labelNames: ['operation'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
  }
}
