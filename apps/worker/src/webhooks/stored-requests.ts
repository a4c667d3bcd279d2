import type { Database } from '@wagate/db/client'
import { type EventAt, listEventsAt } from '@wagate/db/queries/events/events-at'
import { listDueDeliveries } from '@wagate/db/queries/webhooks/webhook-rounds'
import { parseEventId } from '@wagate/shared/event-ids'
import { type DeliveryRequest, makeRequest } from './delivery-request.ts'
import type { WebhookState } from './webhook-state.ts'

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
