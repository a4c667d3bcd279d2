import { integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { moment } from './columns.ts'

/** The contacts that an account must not write to. */
export const optOuts = pgTable(
  'opt_outs',
  {
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    number: text().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ name: 'opt_outs_pk', columns: [table.accountId, table.number] })],
)
