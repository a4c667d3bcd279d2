import { type EventPosition, formatEventId } from '@wagate/shared/event-ids'
import { eventTypes } from '@wagate/shared/event-types'
import { and, desc, eq, getTableColumns, isNull, lt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { events } from '../../schema/events.ts'
import { webhookAttempts, webhookDeliveries, webhooks } from '../../schema/webhooks.ts'
import { findWebhook, isWebhook, type Webhook } from './webhooks.ts'

export type WebhookAttempt = Omit<typeof webhookAttempts.$inferSelect, 'webhookId'>

const { webhookId: _id, ...columns } = getTableColumns(webhookAttempts)

/** The latest first, of those before the attempt number `before`. */
export async function listWebhookAttempts(
  db: Database,
  accountId: number,
  webhookId: number,
  { before, limit, onlyFailed = false }: { before?: number | undefined; limit: number; onlyFailed?: boolean },
): Promise<WebhookAttempt[]> {
  const isBefore = before === undefined ? undefined : lt(webhookAttempts.number, before)
  const hasFailed = onlyFailed
    ? sql`coalesce(${webhookAttempts.status}, 0) NOT BETWEEN 200 AND 299`
    : undefined
  return db
    .select(columns)
    .from(webhookAttempts)
    .innerJoin(webhooks, eq(webhooks.id, webhookAttempts.webhookId))
    .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, webhookId), isBefore, hasFailed))
    .orderBy(desc(webhookAttempts.number))
    .limit(limit)
}

/** The first attempt of a delivery. */
export async function findWebhookAttempt(
  db: Database,
  accountId: number,
  webhookId: number,
  deliveryId: string,
): Promise<WebhookAttempt | undefined> {
  const isDelivery = eq(webhookAttempts.deliveryId, deliveryId)
  const [found] = await db
    .select(columns)
    .from(webhookAttempts)
    .innerJoin(webhooks, eq(webhooks.id, webhookAttempts.webhookId))
    .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, webhookId), isDelivery))
    .orderBy(webhookAttempts.number)
    .limit(1)
  return found
}

/** Of the events that the webhook wants, in their order. */
export async function listPositionsBetween(
  db: Database,
  accountId: number,
  { types, deviceIds }: Pick<Webhook, 'types' | 'deviceIds'>,
  { from, to, limit }: { from: Date; to: Date; limit: number },
): Promise<EventPosition[]> {
  return await db.$client<EventPosition[]>`
    SELECT epoch, tx::text, id::text, floor(extract(epoch FROM created_at))::float8 AS seconds FROM events
    WHERE account_id = ${accountId}
      AND created_at >= ${from.toISOString()}::timestamptz AND created_at <= ${to.toISOString()}::timestamptz
      AND type <> ${eventTypes['webhook.test']}
      AND (${types}::smallint[] IS NULL OR type = ANY (${types}::smallint[]))
      AND (${deviceIds}::int[] IS NULL OR device_id = ANY (${deviceIds}::int[]))
    ORDER BY epoch, tx, id LIMIT ${limit}`
}

/** Deliveries of a webhook that wait for their next attempt. Beyond it, none is added but those of tests. */
export const waitingDeliveriesMax = 100_000

/** The number of deliveries that will be made. `full`: too many wait already, so nothing was changed. */
export type Replayed = number | 'unknown' | 'full'

/**
 * Delivers these events of the account again, each in a request of its own with the ID of the event, whatever the types
 * and devices of the webhook. Those that wait for a delivery already are left out, and later those that do not exist.
 */
export async function replayEvents(
  tx: Transaction,
  accountId: number,
  webhookId: number,
  positions: EventPosition[],
  waitingMax = waitingDeliveriesMax,
): Promise<Replayed> {
  const refusal = await lockForReplay(tx, accountId, webhookId, waitingMax)
  if (refusal) return refusal
  const ids = sql.param(positions.map(formatEventId))
  const inserted = await tx.execute(sql`
    WITH waiting AS MATERIALIZED (
      SELECT waits.id FROM webhook_deliveries AS delivery, unnest(delivery.event_ids) AS waits (id)
      WHERE delivery.webhook_id = ${webhookId} AND delivery.next_attempt_at IS NOT NULL
        AND waits.id = ANY (${ids}::text[])
    )
    INSERT INTO webhook_deliveries (webhook_id, event_ids, next_attempt_at)
    SELECT ${webhookId}::int, ARRAY[given.id], now()
    FROM unnest(${ids}::text[]) WITH ORDINALITY AS given (id, place)
    WHERE given.id NOT IN (SELECT id FROM waiting)
    ORDER BY given.place RETURNING id`)
  return inserted.length
}

/** Repeats the deliveries that will not be repeated because their last attempt has failed. */
export async function replayFailedDeliveries(
  tx: Transaction,
  accountId: number,
  webhookId: number,
  waitingMax = waitingDeliveriesMax,
): Promise<Replayed> {
  const refusal = await lockForReplay(tx, accountId, webhookId, waitingMax)
  if (refusal) return refusal
  const changed = await tx
    .update(webhookDeliveries)
    .set({ attempts: 0, nextAttemptAt: sql`now()` })
    .where(and(eq(webhookDeliveries.webhookId, webhookId), isNull(webhookDeliveries.nextAttemptAt)))
    .returning({ id: webhookDeliveries.id })
  return changed.length
}

/** Replays of one webhook wait for each other, so that each one sees what the others have added. */
async function lockForReplay(
  tx: Transaction,
  accountId: number,
  webhookId: number,
  waitingMax: number,
): Promise<'unknown' | 'full' | undefined> {
  const wanted = isWebhook(accountId, webhookId)
  await tx.select({ id: webhooks.id }).from(webhooks).where(wanted).for('no key update')
  const webhook = await findWebhook(tx, accountId, webhookId)
  if (!webhook) return 'unknown'
  return webhook.waiting > waitingMax ? 'full' : undefined
}

/** Delivers an event of the type `webhook.test` to this webhook only. Undefined for an unknown webhook. */
export async function insertTestEvent(
  tx: Transaction,
  accountId: number,
  webhookId: number,
): Promise<EventPosition | undefined> {
  if (!(await findWebhook(tx, accountId, webhookId))) return undefined
  const [inserted] = await tx
    .insert(events)
    .values({ accountId, type: eventTypes['webhook.test'], data: { webhook_id: webhookId } })
    .returning({
      epoch: events.epoch,
      tx: events.tx,
      id: sql<string>`${events.id}::text`,
      seconds: sql<number>`floor(extract(epoch FROM ${events.createdAt}))::float8`,
    })
  if (!inserted) throw new Error('The event was not inserted')
  await tx.insert(webhookDeliveries).values(deliveryOf(webhookId, inserted))
  return inserted
}

function deliveryOf(webhookId: number, position: EventPosition) {
  return { webhookId, eventIds: [formatEventId(position)], nextAttemptAt: sql`now()` }
}
