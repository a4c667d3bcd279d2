import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { moment } from './columns.ts'

const accountId = () =>
  integer('account_id')
    .notNull()
    .references(() => accounts.id, { onDelete: 'cascade' })

/**
 * The contacts that an account must not write to. A person whose number and LID are known has a row for each, and keeps both
 * when WhatsApp names another number or another LID.
 */
export const optOuts = pgTable(
  'opt_outs',
  {
    accountId: accountId(),
    number: text().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** The key that opted out, if this is another one of the same person. */
    origin: text(),
    /** The last time at which it was asked for. Null in rows of earlier versions that were asked for once. */
    askedAt: moment('asked_at'),
    /** Why, and where it comes from, as the caller says. */
    reason: text(),
    source: text(),
  },
  (table) => [
    primaryKey({ name: 'opt_outs_pk', columns: [table.accountId, table.number] }),
    index('opt_outs_origin').on(table.accountId, table.origin).where(sql`${table.origin} IS NOT NULL`),
  ],
)

/** When a contact last opted in. It may turn out later that another key, which had opted out before, is the same person. */
export const optIns = pgTable(
  'opt_ins',
  {
    accountId: accountId(),
    number: text().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ name: 'opt_ins_pk', columns: [table.accountId, table.number] })],
)
