import type { Database } from '@wagate/db/client'
import { listEvents } from '@wagate/db/queries/event-feed'
import { listDueDeliveries } from '@wagate/db/queries/webhook-rounds'
import { type EventPosition, formatEventId, parseEventId } from '@wagate/shared/event-ids'
import type { EventRow } from '@wagate/shared/objects/event-object'
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
  const stored: StoredRequests = { requests: [], lost: [] }
  for (const { id, eventIds, attempts } of await listDueDeliveries(db, lease.webhookId, limit)) {
    const found: (EventRow | 'lost' | 'early')[] = []
    for (const eventId of eventIds) found.push(await findEvent(db, accountId, eventId))
    if (found.includes('early')) continue
    const events = found.filter((event) => typeof event === 'object')
    if (events.length > 0) stored.requests.push(makeRequest(events, { attempts, deliveryId: id }))
    else stored.lost.push(id)
  }
  return stored
}

async function findEvent(
  db: Database,
  accountId: number,
  eventId: string,
): Promise<EventRow | 'lost' | 'early'> {
  const position = parseEventId(eventId)
  if (!position) return 'lost'
  const after = { ...position, id: String(BigInt(position.id) - 1n) }
  const { events, next } = await listEvents(db, accountId, { after, limit: 1 })
  const [event] = events
  if (event && formatEventId(event.position) === eventId) return event
  return isBefore(next, position) ? 'early' : 'lost'
}

function isBefore(a: EventPosition, b: EventPosition): boolean {
  const [first, second] = [a, b].map((position) => formatEventId({ ...position, seconds: 0 }))
  return (first ?? '') < (second ?? '')
}
