import type { WebhookDisabledReason } from '@wagate/shared/statuses'
import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { bytea, moment, xid8 } from './columns.ts'

/** Processes that deliver webhooks. They share the webhooks among them. */
export const webhookDispatchers = pgTable('webhook_dispatchers', {
  id: uuid().primaryKey(),
  leaseUntil: moment('lease_until').notNull(),
})

/** A subscriber: a position in the stream of events of its account, and the process that delivers from there. */
export const webhooks = pgTable(
  'webhooks',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    url: text().notNull(),
    name: text().notNull(),
    /** Null: all. See `eventTypes`. */
    types: smallint().array(),
    /** Null: all, and events of no device. */
    deviceIds: integer('device_ids').array(),
    /** Of one request. With 1, its body is the event, otherwise a list. */
    eventsMax: smallint('events_max').notNull().default(1),
    createdAt: moment('created_at').notNull().defaultNow(),
    disabledAt: moment('disabled_at'),
    disabledReason: text('disabled_reason').$type<WebhookDisabledReason>(),
    /** Since the first failure that no success followed. */
    failingSince: moment('failing_since'),
    /** Too many deliveries wait to be repeated, so no further events are read. */
    backlogFullSince: moment('backlog_full_since'),
    /** Of requests. Null before the first one. */
    lastSuccessAt: moment('last_success_at'),
    lastFailureAt: moment('last_failure_at'),

    /** All events up to this position were delivered or have a row in `webhook_deliveries`. */
    epoch: integer().notNull(),
    tx: xid8().notNull(),
    eventId: bigint('event_id', { mode: 'number' }).notNull(),
    seconds: bigint({ mode: 'number' }).notNull(),

    /** The process that delivers, while it renews its own lease. Its writes name both. A change by the API ends them. */
    dispatcher: uuid().references(() => webhookDispatchers.id, { onDelete: 'set null' }),
    leaseEpoch: bigint('lease_epoch', { mode: 'number' }).notNull().default(0),
  },
  (table) => [
    index('webhooks_account').on(table.accountId),
    check('webhooks_events_max', sql`${table.eventsMax} BETWEEN 1 AND 100`),
    check('webhooks_disabled', sql`(${table.disabledAt} IS NULL) = (${table.disabledReason} IS NULL)`),
    check('webhooks_disabled_reason', sql`${table.disabledReason} IN ('by_caller', 'gone', 'failing')`),
  ],
)

/** The newest signs. A former one signs as well until `valid_until`. */
export const webhookSecrets = pgTable(
  'webhook_secrets',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    webhookId: integer('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    sealed: bytea().notNull(),
    /** Null for the present one. */
    validUntil: moment('valid_until'),
  },
  (table) => [index('webhook_secrets_webhook').on(table.webhookId)],
)

/** Requests outside the stream: those that failed, replays and tests. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    webhookId: integer('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** As `formatEventId` writes them, in the order of the request. */
    eventIds: text('event_ids').array().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** That failed. */
    attempts: smallint().notNull().default(0),
    /** Null when all attempts have failed. */
    nextAttemptAt: moment('next_attempt_at'),
  },
  (table) => [
    index('webhook_deliveries_due').on(table.webhookId, table.nextAttemptAt),
    // Finds the oldest one that waits, however many do.
    index('webhook_deliveries_waiting')
      .on(table.webhookId, table.id)
      .where(sql`${table.nextAttemptAt} IS NOT NULL`),
    index('webhook_deliveries_created_at').on(table.createdAt),
  ],
)

/** The latest attempts of each webhook, for callers: all failures, and a sample of the successes. */
export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    webhookId: integer('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** Counts the attempts of a webhook. */
    number: bigint({ mode: 'number' }).notNull(),
    /** The `webhook-id` of the request. */
    deliveryId: text('delivery_id').notNull(),
    eventIds: text('event_ids').array().notNull(),
    /** Of this delivery, from 1. */
    attempt: smallint().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    durationMs: integer('duration_ms').notNull(),
    /** Of the response. Null without one. */
    status: smallint(),
    error: text(),
    /** The beginning of the response. */
    answer: text(),
  },
  (table) => [
    primaryKey({ name: 'webhook_attempts_pk', columns: [table.webhookId, table.number] }),
    index('webhook_attempts_created_at').on(table.createdAt),
  ],
)
