import { sql } from 'drizzle-orm'
import { date, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

/** What an account knows of the people whose LIDs it has seen. Whoever is known by a number alone has no row. */
export const contacts = pgTable(
  'contacts',
  {
    accountId: integer('account_id').notNull(),
    /** With `@lid`. */
    lidJid: text('lid_jid').notNull(),
    /** Null as long as WhatsApp does not tell it. */
    number: text(),
    username: text(),
    /** The last day on which it wrote or was written to by its LID, or something of it was learnt. */
    seenOn: date('seen_on').notNull().default(sql`CURRENT_DATE`),
  },
  (table) => [
    primaryKey({ name: 'contacts_pk', columns: [table.accountId, table.lidJid] }),
    index('contacts_number').on(table.accountId, table.number).where(sql`${table.number} IS NOT NULL`),
  ],
)
