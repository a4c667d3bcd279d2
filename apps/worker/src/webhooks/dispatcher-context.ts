import type { Database } from '@wagate/db/client'
import { waitingDeliveriesMax } from '@wagate/db/queries/webhooks/webhook-deliveries'
import type { EventHints } from '@wagate/queue/event-hints'
import type { FairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { PauseRange } from '@wagate/runtime/growing-pause'
import type { Logger } from '@wagate/runtime/logger'
import type { MasterKeys } from '../config/master-keys.ts'
import type { CircuitLimits } from './circuit.ts'
import type { DispatcherMetrics } from './dispatcher-metrics.ts'
import { retryDelaysMs } from './retry-schedule.ts'
import type { TargetGuard } from './target-guard.ts'

/** What the webhooks of a dispatcher share. */
export type DispatcherContext = {
  db: Database
  logger: Logger
  metrics: DispatcherMetrics
  masterKeys: MasterKeys
  /** Wakes the caller who has requested a test. */
  publishEventHint?: EventHints['publish']
  /** Of the API, for links to files. Undefined for links without a host. */
  publicUrl?: string | undefined
  guard: TargetGuard
  limits: DispatcherLimits
  /** Rounds at a time. The keys are accounts. */
  rounds: FairSemaphore
}

export type DispatcherLimits = {
  /** After this silence of a dispatcher, others deliver its webhooks. */
  leaseMs: number
  heartbeatMs: number
  pollMs: number
  /** While it owns no webhook. */
  idlePollMs: number
  /** Between two rounds of a webhook that has delivered all it had. */
  pauseMs: number
  /** After a round that could not be read or stored. It grows with each such round in a row. */
  failurePause: PauseRange
  /** Of one request, in all. */
  requestMs: number
  retryDelaysMs: readonly number[]
  circuit: CircuitLimits
  /** A webhook that has only failed for this time is disabled. */
  failingMsMax: number
  /** Deliveries of a webhook that wait to be repeated. Beyond it, its position stays. */
  waitingMax: number
  /** Requests to one target at a time. */
  concurrency: number
}

const [minuteMs, dayMs] = [60_000, 86_400_000]

export const dispatcherLimits: DispatcherLimits = {
  leaseMs: 6000,
  heartbeatMs: 2000,
  pollMs: 500,
  idlePollMs: 2000,
  pauseMs: 100,
  failurePause: { firstMs: 500, maxMs: 30_000 },
  requestMs: 15_000,
  retryDelaysMs,
  circuit: { failuresMax: 10, probeMinMs: 5000, probeMaxMs: 5 * minuteMs },
  failingMsMax: 5 * dayMs,
  waitingMax: waitingDeliveriesMax,
  concurrency: 4,
}
