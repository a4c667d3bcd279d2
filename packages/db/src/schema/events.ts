import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, jsonb, pgTable, smallint, uuid } from 'drizzle-orm/pg-core'
import { moment, xid8 } from './columns.ts'

/**
 * Everything that happens and that a user can see. The statement that makes a change inserts its event. Partitioned by
 * week of `created_at`: only the migration declares that.
 */
export const events = pgTable(
  'events',
  {
    accountId: integer('account_id').notNull(),
    deviceId: integer('device_id'),
    /** Of `event_epochs`. Comes first in the order of events. */
    epoch: integer().notNull().default(sql`event_epoch()`),
    /** The transaction that made the change. Readers wait for it, because a lower number may be committed later. */
    tx: xid8().notNull().default(sql`pg_current_xact_id()`),
    /** In the order of one transaction. */
    id: bigint({ mode: 'number' }).notNull().default(sql`nextval('events_seq')`),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** When it happened. Null: when it was recorded. */
    at: moment('at'),
    messageId: uuid('message_id'),
    /** See `eventTypes`. */
    type: smallint().notNull(),
    /** What no other row has. */
    data: jsonb(),
  },
  (table) => [
    index('events_stream').on(table.accountId, table.epoch, table.tx, table.id),
    // Finds a reaction, an edit, a deletion or a vote that WhatsApp delivers again.
    index('events_changes')
      .on(table.deviceId, sql`(data ->> 'waId'::text)`)
      .where(sql`${table.type} IN (11, 12, 13, 14)`),
  ],
)

/**
 * Periods of the stream of events. Whatever may make Postgres use a transaction id twice begins a new one: `event_epoch()`
 * (docs/decisions/0056-epochs-of-events.md). No row for an epoch in which there was no event.
 */
export const eventEpochs = pgTable('event_epochs', {
  epoch: integer().primaryKey(),
  /** All its events were recorded from `since` on and before `until`. */
  since: moment('since').notNull(),
  until: moment('until').notNull(),
  /**
   * False once the clock of Postgres has gone back by hours. Until then, no event is recorded more than 18 hours before an
   * earlier one.
   */
  isSteady: boolean('is_steady').notNull().default(true),
})

/**
 * At most one row, with the epoch of this run of Postgres. Unlogged, so Postgres itself empties the table when it recovers
 * from a crash, and a standby or a base backup has none.
 */
export const eventClock = pgTable('event_clock', {
  epoch: integer().notNull(),
  /** Of Postgres. Differs in a copy of its files. */
  startedAt: moment('started_at').notNull(),
  /** Between these times, events are recorded and the row stays as it is. */
  since: moment('since').notNull(),
  until: moment('until').notNull(),
})
