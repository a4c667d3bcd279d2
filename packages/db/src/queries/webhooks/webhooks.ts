import type { EventPosition } from '@wagate/shared/event-ids'
import { and, asc, eq, gt, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { accounts } from '../../schema/accounts.ts'
import { webhookSecrets, webhooks } from '../../schema/webhooks.ts'

/** `waiting`: requests that will be repeated. `failed`: those whose last attempt has failed. */
export type Webhook = Omit<
  typeof webhooks.$inferSelect,
  'accountId' | 'epoch' | 'tx' | 'eventId' | 'seconds' | 'dispatcher' | 'leaseEpoch'
> & { waiting: number; failed: number }

export type WebhookSettings = Pick<
  typeof webhooks.$inferInsert,
  'url' | 'name' | 'types' | 'deviceIds' | 'eventsMax'
>

export function isWebhook(accountId: number, webhookId: number): SQL | undefined {
  return and(eq(webhooks.accountId, accountId), eq(webhooks.id, webhookId))
}

/** With the names of the tables, which drizzle leaves out of the columns of a single table. */
const countOf = (condition: string) =>
  sql<number>`${sql.raw(`(SELECT count(*)::int FROM webhook_deliveries AS delivery
    WHERE delivery.webhook_id = webhooks.id AND ${condition})`)}`

const columns = {
  id: webhooks.id,
  url: webhooks.url,
  name: webhooks.name,
  types: webhooks.types,
  deviceIds: webhooks.deviceIds,
  eventsMax: webhooks.eventsMax,
  createdAt: webhooks.createdAt,
  disabledAt: webhooks.disabledAt,
  disabledReason: webhooks.disabledReason,
  failingSince: webhooks.failingSince,
  backlogFullSince: webhooks.backlogFullSince,
  lastSuccessAt: webhooks.lastSuccessAt,
  lastFailureAt: webhooks.lastFailureAt,
  waiting: countOf('delivery.next_attempt_at IS NOT NULL'),
  failed: countOf('delivery.next_attempt_at IS NULL'),
}

export async function listWebhooks(db: Pick<Database, 'select'>, accountId: number): Promise<Webhook[]> {
  return db.select(columns).from(webhooks).where(eq(webhooks.accountId, accountId)).orderBy(asc(webhooks.id))
}

export async function findWebhook(
  db: Pick<Database, 'select'>,
  accountId: number,
  webhookId: number,
): Promise<Webhook | undefined> {
  const [found] = await db.select(columns).from(webhooks).where(isWebhook(accountId, webhookId))
  return found
}

/** Makes requests that count the webhooks of one account wait for each other. */
export async function hasRoomForWebhook(
  tx: Transaction,
  accountId: number,
  webhooksMax: number,
): Promise<boolean> {
  await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).for('no key update')
  return (await tx.$count(webhooks, eq(webhooks.accountId, accountId))) < webhooksMax
}

/** Delivers the events after `position`. Insert its secret in the same transaction: its encryption needs the id. */
export async function insertWebhook(
  tx: Transaction,
  accountId: number,
  settings: WebhookSettings,
  position: EventPosition,
): Promise<number> {
  const [inserted] = await tx
    .insert(webhooks)
    .values({ accountId, ...settings, ...positionColumns(position) })
    .returning({ id: webhooks.id })
  if (!inserted) throw new Error('The webhook was not inserted')
  return inserted.id
}

export async function insertWebhookSecret(tx: Transaction, webhookId: number, sealed: Buffer): Promise<void> {
  await tx.insert(webhookSecrets).values({ webhookId, sealed })
}

/**
 * The present secret becomes the former one, which signs as well for `overlapMs`. `overlapping`: a former one was promised to
 * sign until later, so nothing was changed. With an overlap of 0, all former secrets end at once.
 */
export async function rotateWebhookSecret(
  tx: Transaction,
  accountId: number,
  webhookId: number,
  { sealed, overlapMs }: { sealed: Buffer; overlapMs: number },
): Promise<'rotated' | 'overlapping' | 'unknown'> {
  if (!(await changeWebhook(tx, accountId, webhookId, {}))) return 'unknown'
  const isOfWebhook = eq(webhookSecrets.webhookId, webhookId)
  const isFormer = and(isOfWebhook, gt(webhookSecrets.validUntil, sql`now()`))
  if (overlapMs > 0 && (await tx.$count(webhookSecrets, isFormer)) > 0) return 'overlapping'
  await tx.delete(webhookSecrets).where(and(isOfWebhook, isNotNull(webhookSecrets.validUntil)))
  await tx
    .update(webhookSecrets)
    .set({ validUntil: sql`now() + ${overlapMs}::float8 * interval '1 ms'` })
    .where(isOfWebhook)
  await insertWebhookSecret(tx, webhookId, sealed)
  return 'rotated'
}

/** Returns false for an unknown webhook. */
export async function updateWebhook(
  db: Pick<Database, 'update'>,
  accountId: number,
  webhookId: number,
  settings: Partial<WebhookSettings>,
): Promise<boolean> {
  return changeWebhook(db, accountId, webhookId, settings)
}

/** A disabled webhook keeps its position, and continues there when it is enabled. Returns false for an unknown webhook. */
export async function setWebhookEnabled(
  db: Pick<Database, 'update'>,
  accountId: number,
  webhookId: number,
  isEnabled: boolean,
): Promise<boolean> {
  return changeWebhook(
    db,
    accountId,
    webhookId,
    isEnabled
      ? { disabledAt: null, disabledReason: null, failingSince: null }
      : {
          disabledAt: sql`coalesce(${webhooks.disabledAt}, now())`,
          disabledReason: sql`coalesce(${webhooks.disabledReason}, 'by_caller')`,
        },
  )
}

/** Delivers the events after `position` again. Returns false for an unknown webhook. */
export async function setWebhookPosition(
  db: Pick<Database, 'update'>,
  accountId: number,
  webhookId: number,
  position: EventPosition,
): Promise<boolean> {
  return changeWebhook(db, accountId, webhookId, positionColumns(position))
}

/** Returns false for an unknown webhook. */
export async function deleteWebhook(
  db: Pick<Database, 'delete'>,
  accountId: number,
  webhookId: number,
): Promise<boolean> {
  const deleted = await db
    .delete(webhooks)
    .where(isWebhook(accountId, webhookId))
    .returning({ id: webhooks.id })
  return deleted.length > 0
}

type Changes = {
  [Column in keyof typeof webhooks.$inferInsert]?: (typeof webhooks.$inferInsert)[Column] | SQL
}

/** Every change ends the lease, so that the next one begins with the new values and late writes are refused. */
async function changeWebhook(
  db: Pick<Database, 'update'>,
  accountId: number,
  webhookId: number,
  changes: Changes,
): Promise<boolean> {
  const changed = await db
    .update(webhooks)
    .set({ ...changes, dispatcher: null, leaseEpoch: sql`${webhooks.leaseEpoch} + 1` })
    .where(isWebhook(accountId, webhookId))
    .returning({ id: webhooks.id })
  return changed.length > 0
}

function positionColumns({ epoch, tx, id, seconds }: EventPosition) {
  return { epoch, tx, eventId: Number(id), seconds }
}
