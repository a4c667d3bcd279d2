import { randomUUID } from 'node:crypto'
import { isRefusedContent } from '@wagate/db/failures'
import { disableWebhook, type Round, recordRound } from '@wagate/db/queries/webhooks/webhook-rounds'
import type { TargetFault } from '@wagate/shared/statuses'
import type { DispatcherContext } from './dispatcher-context.ts'
import type { WebhookState } from './webhook-state.ts'

/** The position also moves over events that the webhook does not want, which is worth a write from time to time. */
const storeEveryMs = 60_000

/** What became of the requests of a round. `isGone`: the target wants no further ones. */
type RoundEnd = { round: Omit<Round, 'key' | 'attempts'>; isGone: boolean; hasTest: boolean }

/** Notes in the state what became of the requests of a round, to be stored with `storeUnstored`. */
export function concludeInState(state: WebhookState, { round: given, isGone, hasTest }: RoundEnd): void {
  const round = { ...given, key: randomUUID(), attempts: state.log.take() }
  if (isWorthStoring(state, round)) state.unstored = { round, isGone, hasTest }
  else state.position = round.position ?? state.position
}

/**
 * Stores what the state has noted. Nothing may be posted before: it would be posted twice. Returns false when the webhook
 * has another dispatcher or was disabled: nothing more may be sent.
 */
export async function storeUnstored(context: DispatcherContext, state: WebhookState): Promise<boolean> {
  const { unstored } = state
  if (unstored) {
    const stored = await record(context, state, unstored.round)
    state.unstored = undefined
    if (unstored.hasTest) context.publishEventHint?.(state.accountId)
    if (!stored) return false
    noteStored(context, state, unstored.round)
    state.fault = faultOf(unstored, stored.failingMs >= context.limits.failingMsMax)
  }
  return state.fault ? disable(context, state, state.fault) : true
}

/** Only what targets have answered may be content that Postgres refuses: then it is left out, and not posted again. */
async function record({ db }: DispatcherContext, { lease }: WebhookState, round: Round) {
  try {
    return await recordRound(db, lease, round)
  } catch (error) {
    if (!isRefusedContent(error)) throw error
    const attempts = round.attempts.map((attempt) => ({ ...attempt, answer: null, error: null }))
    return recordRound(db, lease, { ...round, attempts })
  }
}

function faultOf(
  { round, isGone }: { round: Round; isGone: boolean },
  isFailingForLong: boolean,
): TargetFault | undefined {
  if (isGone) return 'gone'
  return round.result === 'failed' && isFailingForLong ? 'failing' : undefined
}

function isWorthStoring(state: WebhookState, round: Round): boolean {
  return (
    round.result !== undefined ||
    round.done.length > 0 ||
    round.isBacklogFull !== state.isBacklogFull ||
    performance.now() - state.storedAtMs >= storeEveryMs
  )
}

function noteStored({ metrics }: DispatcherContext, state: WebhookState, round: Round): void {
  const { parked, repeated, done, result, isBacklogFull } = round
  metrics.abandoned.inc([...parked, ...repeated].filter(({ delayMs }) => delayMs === null).length)
  const ended = done.length + repeated.filter(({ delayMs }) => delayMs === null).length
  state.waiting = Math.max(0, state.waiting + parked.length - ended)
  state.isBacklogFull = isBacklogFull
  state.storedAtMs = performance.now()
  state.position = round.position ?? state.position
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
