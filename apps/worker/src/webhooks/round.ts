import type { EventPage } from '@wagate/db/queries/events/event-feed'
import { eventTypes } from '@wagate/shared/event-types'
import { concludeRound, type Outcome } from './conclude-round.ts'
import { deliverInOrder } from './deliver-in-order.ts'
import type { DeliveryRequest } from './delivery-request.ts'
import type { DispatcherContext } from './dispatcher-context.ts'
import { readDueRequests } from './due-requests.ts'
import { sendRequest } from './send-request.ts'
import { concludeInState, storeUnstored } from './store-round.ts'
import type { WebhookState } from './webhook-state.ts'

/** `more`: run another round. `idle`: nothing is due. `ended`: the webhook is disabled or has another dispatcher. */
export type RoundEnd = 'more' | 'idle' | 'ended'

/**
 * Delivers what is due, up to a limit, then stores what became of it. Sends no further requests once `mayPost` is false, and
 * none before what became of the last ones is stored.
 */
export async function runRound(
  context: DispatcherContext,
  state: WebhookState,
  mayPost: () => boolean,
): Promise<RoundEnd> {
  if (!(await storeUnstored(context, state))) return 'ended'
  const allowance = state.circuit.allowanceAt(performance.now())
  if (allowance === 'none') return 'idle'
  const due = await readDueRequests(context, state, allowance === 'one')
  const outcomes = new Map<DeliveryRequest, Outcome>()
  const startedMs = performance.now()
  // What became of requests to a slow target is stored before all of them have had their time.
  const isLate = () => performance.now() - startedMs >= context.limits.requestMs
  const isGone = () => [...outcomes.values()].some(({ result }) => result === 'gone')

  await deliverInOrder([...due.stored.requests, ...due.stream], {
    concurrency: context.limits.concurrency,
    mayStart: () =>
      mayPost() && !isGone() && !isLate() && state.circuit.allowanceAt(performance.now()) !== 'none',
    async send(request) {
      outcomes.set(request, await sendRequest(context, state, request))
    },
  })

  const { firstOpen, ...conclusion } = concludeRound(
    {
      stream: due.stream,
      streamEnd: due.page?.next,
      stored: due.stored.requests,
      outcomeOf: (request) => outcomes.get(request),
    },
    context.limits.retryDelaysMs,
  )
  const round = {
    ...conclusion,
    done: [...conclusion.done, ...due.stored.lost],
    isBacklogFull: due.isBacklogFull,
  }
  concludeInState(state, { round, isGone: isGone(), hasTest: due.stored.requests.some(isTest) })
  if (!(await storeUnstored(context, state))) return 'ended'
  if (due.page) state.waitingSinceMs = waitingSinceMs(due.page, firstOpen)
  return due.stream.length > 0 || due.stored.requests.length > 0 || due.page?.hasMore ? 'more' : 'idle'
}

const isTest = ({ events }: DeliveryRequest) => events.some(({ type }) => type === eventTypes['webhook.test'])

/** The events that follow the page are not older than its last one. */
function waitingSinceMs({ events, hasMore }: EventPage, firstOpen: DeliveryRequest | undefined) {
  const waiting = firstOpen?.events[0] ?? (hasMore ? events.at(-1) : undefined)
  return waiting && Date.parse(waiting.createdAt)
}
