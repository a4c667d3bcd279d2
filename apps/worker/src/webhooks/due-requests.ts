import { type EventPage, listEvents } from '@wagate/db/queries/events/event-feed'
import { countWaitingDeliveries } from '@wagate/db/queries/webhooks/webhook-rounds'
import { eventTypes } from '@wagate/shared/event-types'
import { type DeliveryRequest, makeRequests } from './delivery-request.ts'
import type { DispatcherContext } from './dispatcher-context.ts'
import { listStoredRequests, type StoredRequests } from './stored-requests.ts'
import type { WebhookState } from './webhook-state.ts'

export type DueRequests = {
  stored: StoredRequests
  /** Of the page, in its order. */
  stream: DeliveryRequest[]
  /** Undefined when the stream was not read. */
  page: EventPage | undefined
  isBacklogFull: boolean
}

const storedMax = 20
/** A page has some requests for each of the concurrent ones. */
const requestsOfPage = 4
const eventsMin = 50
const countEveryMs = 60_000

/** What a webhook has to deliver now, up to a limit. A probe is one request. */
export async function readDueRequests(
  { db, limits }: DispatcherContext,
  state: WebhookState,
  isProbe: boolean,
): Promise<DueRequests> {
  await recountWaiting()
  const stored = await readStored(isProbe ? 1 : storedMax)
  const isBacklogFull = state.waiting >= limits.waitingMax
  const isStreamRead = !isBacklogFull && !(isProbe && stored.requests.length > 0)
  const page = isStreamRead ? await readPage() : undefined
  // A test is delivered to the webhook for which it was requested, from its stored delivery.
  const events = page?.events.filter(({ type }) => type !== eventTypes['webhook.test']) ?? []
  return { stored, stream: makeRequests(events, state.eventsMax), page, isBacklogFull }

  /** Not in each round: events that follow one another closely would pay for it. */
  async function readStored(limit: number): Promise<StoredRequests> {
    if (!state.mayBeDue) return { requests: [], lost: [] }
    state.mayBeDue = false
    const stored = await listStoredRequests(db, state, limit)
    if (stored.requests.length + stored.lost.length > 0) state.mayBeDue = true
    return stored
  }

  async function recountWaiting(): Promise<void> {
    if (performance.now() - state.countedAtMs < countEveryMs) return
    state.waiting = await countWaitingDeliveries(db, state.id, limits.waitingMax)
    state.countedAtMs = performance.now()
  }

  function readPage(): Promise<EventPage> {
    return listEvents(db, state.accountId, {
      after: state.position,
      limit: isProbe ? state.eventsMax : Math.max(eventsMin, requestsOfPage * state.eventsMax),
      types: state.types ?? undefined,
      deviceIds: state.deviceIds ?? undefined,
    })
  }
}
