import { date, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

/**
 * How many messages of a sender were sent, delivered, read and received on a UTC day, and how many failed for each reason. The
 * statement that records a change counts it (event-rows.ts). By phone number, because devices come and go.
 */
export const messageCounts = pgTable(
  'message_counts',
  {
    day: date().notNull(),
    accountId: integer('account_id').notNull(),
    sender: text().notNull(),
    /** Of those that have failed. Empty for all others. */
    errorCode: text('error_code').notNull(),
    sent: integer().notNull(),
    delivered: integer().notNull(),
    read: integer().notNull(),
    failed: integer().notNull(),
    received: integer().notNull(),
  },
  // The day comes first: one index finds an account's days, and what is too old. No index has a count, so updates are cheap.
  (table) => [
    primaryKey({
      name: 'message_counts_pk',
      columns: [table.day, table.accountId, table.sender, table.errorCode],
    }),
  ],
)
