import type { EventPage } from '@wagate/db/queries/events/event-feed'
import { eventTypes } from '@wagate/shared/event-types'
import { signWebhook } from '@wagate/shared/webhook-signature'
import { concludeRound, type Outcome } from './conclude-round.ts'
import { bodyOf, type DeliveryRequest } from './delivery-request.ts'
import type { DispatcherContext } from './dispatcher-context.ts'
import { readDueRequests } from './due-requests.ts'
import { postDelivery } from './post-delivery.ts'
import { concludeInState, storeUnstored } from './store-round.ts'
import { secretsAt, type WebhookState } from './webhook-state.ts'

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

type Subjects = Pick<DeliveryRequest, 'subjects'>

/**
 * Sends up to `concurrency` requests at a time, those with a subject in common one after the other. Starts none any more
 * once `mayStart` is false. Resolves when none is in flight.
 */
export async function deliverInOrder<Request extends Subjects>(
  requests: readonly Request[],
  {
    concurrency,
    mayStart,
    send,
  }: { concurrency: number; mayStart(): boolean; send(request: Request): Promise<void> },
): Promise<void> {
  const waiting = [...requests]
  const inFlight = new Map<Request, Promise<void>>()
  for (;;) {
    const next = mayStart() && inFlight.size < concurrency ? pickRequest(waiting, inFlight.keys()) : undefined
    if (next) {
      waiting.splice(waiting.indexOf(next), 1)
      inFlight.set(
        next,
        send(next).finally(() => inFlight.delete(next)),
      )
    } else if (inFlight.size > 0) await Promise.race(inFlight.values())
    else return
  }
}

/** The first request that shares no subject with one in flight or with an earlier one that waits. */
function pickRequest<Request extends Subjects>(
  waiting: readonly Request[],
  inFlight: Iterable<Request>,
): Request | undefined {
  const taken = new Set<string>()
  for (const { subjects } of inFlight) for (const subject of subjects) taken.add(subject)
  return waiting.find(({ subjects }) => {
    const isFree = [...subjects].every((subject) => !taken.has(subject))
    for (const subject of subjects) taken.add(subject)
    return isFree
  })
}

/** Makes one attempt, and notes what came of it in the state. Never throws. */
async function sendRequest(
  { guard, limits, metrics }: DispatcherContext,
  state: WebhookState,
  request: DeliveryRequest,
): Promise<Outcome> {
  const body = bodyOf(request, state)
  const post = { url: state.url, accountId: state.accountId, headers: headersOf(state, request, body), body }
  const answer = await postDelivery(post, { deadlineMs: limits.requestMs, guard })
  const result = resultOf(answer.status)
  if (result === 'taken') state.circuit.succeed()
  else state.circuit.fail(performance.now(), answer.retryAfterMs)
  state.log.add(request, answer, result === 'taken')
  metrics.requests.inc({ result })
  return { result, retryAfterMs: answer.retryAfterMs }
}

function headersOf(state: WebhookState, { id }: DeliveryRequest, body: string) {
  const timestampSeconds = Math.floor(Date.now() / 1000)
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'wagate',
    'webhook-id': id,
    'webhook-timestamp': timestampSeconds,
    'webhook-signature': signWebhook(secretsAt(state, timestampSeconds), { id, timestampSeconds, body }),
  }
}

/** A redirect is a failure: its target is not the one that the account has registered. */
function resultOf(status: number | null): Outcome['result'] {
  if (status === 410) return 'gone'
  return status !== null && status >= 200 && status < 300 ? 'taken' : 'failed'
}
