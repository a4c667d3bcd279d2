import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, pgTable, smallint, uuid } from 'drizzle-orm/pg-core'
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
    /** `migrate` raises the default when transaction ids may begin anew, so that events stay in order after a restore. */
    epoch: integer().notNull().default(0),
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
