import type { Database } from '@wagate/db/client'
import { type EventPage, listEvents } from '@wagate/db/queries/events/event-feed'
import { type EventAt, listEventsAt } from '@wagate/db/queries/events/events-at'
import { countWaitingDeliveries, listDueDeliveries } from '@wagate/db/queries/webhooks/webhook-rounds'
import { parseEventId } from '@wagate/shared/event-ids'
import { eventTypes } from '@wagate/shared/event-types'
import { type DeliveryRequest, makeRequest, makeRequests } from './delivery-request.ts'
import type { DispatcherContext } from './dispatcher-context.ts'
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

/** `lost`: ids of deliveries whose events retention has removed. */
export type StoredRequests = { requests: DeliveryRequest[]; lost: string[] }

/** Deliveries whose time has come. Leaves out those with an event that readers of the stream cannot see yet. */
export async function listStoredRequests(
  db: Database,
  { lease, accountId }: Pick<WebhookState, 'lease' | 'accountId'>,
  limit: number,
): Promise<StoredRequests> {
  const deliveries = await listDueDeliveries(db, lease.webhookId, limit)
  const found = await findEvents(
    db,
    accountId,
    deliveries.flatMap(({ eventIds }) => eventIds),
  )
  const stored: StoredRequests = { requests: [], lost: [] }
  for (const { id, eventIds, attempts } of deliveries) {
    const all = eventIds.map((eventId) => found.get(eventId) ?? 'lost')
    if (all.includes('early')) continue
    const events = all.filter((event) => typeof event === 'object')
    if (events.length > 0) stored.requests.push(makeRequest(events, { attempts, deliveryId: id }))
    else stored.lost.push(id)
  }
  return stored
}

async function findEvents(
  db: Database,
  accountId: number,
  eventIds: string[],
): Promise<Map<string, EventAt>> {
  const known = [...new Set(eventIds)].flatMap((eventId) => {
    const position = parseEventId(eventId)
    return position ? { eventId, position } : []
  })
  const events = await listEventsAt(
    db,
    accountId,
    known.map(({ position }) => position),
  )
  return new Map(known.map(({ eventId }, index) => [eventId, events[index] ?? 'lost']))
}
