import { randomUUID } from 'node:crypto'
import { disableWebhook, type Round, recordRound } from '@wagate/db/queries/webhook-rounds'
import type { TargetFault } from '@wagate/shared/statuses'
import type { DispatcherContext } from './dispatcher-context.ts'
import type { WebhookState } from './webhook-state.ts'

/** The position also moves over events that the webhook does not want, which is worth a write from time to time. */
const storeEveryMs = 60_000

/**
 * Stores what became of the requests of a round, then notes it in the state. Returns false when the webhook has another
 * dispatcher or was disabled: nothing more may be sent.
 */
export async function storeRound(
  context: DispatcherContext,
  state: WebhookState,
  given: Omit<Round, 'key' | 'attempts'>,
  isGone: boolean,
): Promise<boolean> {
  const { db, limits, metrics } = context
  const round = { ...given, key: randomUUID(), attempts: state.log.take() }
  if (isWorthStoring(state, round)) {
    const stored = await recordRound(db, state.lease, round)
    if (!stored) return false
    noteStored(state, round)
    metrics.abandoned.inc(
      [...round.parked, ...round.repeated].filter(({ delayMs }) => delayMs === null).length,
    )
    if (isGone) return disable(context, state, 'gone')
    if (round.result === 'failed' && stored.failingMs >= limits.failingMsMax)
      return disable(context, state, 'failing')
  }
  state.position = round.position ?? state.position
  return true
}

function isWorthStoring(state: WebhookState, round: Round): boolean {
  return (
    round.result !== undefined ||
    round.done.length > 0 ||
    round.isBacklogFull !== state.isBacklogFull ||
    performance.now() - state.storedAtMs >= storeEveryMs
  )
}

function noteStored(state: WebhookState, { parked, repeated, done, result, isBacklogFull }: Round): void {
  const ended = done.length + repeated.filter(({ delayMs }) => delayMs === null).length
  state.waiting = Math.max(0, state.waiting + parked.length - ended)
  state.isBacklogFull = isBacklogFull
  state.storedAtMs = performance.now()
  if (result !== undefined) state.isFailing = result === 'failed'
}

async function disable(
  { db, logger, metrics }: DispatcherContext,
  { lease }: WebhookState,
  reason: TargetFault,
): Promise<false> {
  const isDisabled = await disableWebhook(db, lease, reason)
  if (!isDisabled) return false
  metrics.disabled.inc({ reason })
  logger.warn({ webhookId: lease.webhookId, reason }, 'Webhook disabled')
  return false
}
