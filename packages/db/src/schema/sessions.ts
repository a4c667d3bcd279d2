import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { accounts, apiKeys } from './accounts.ts'

/**
 * A person who has signed in with a password. A session is an API key that only the cookie of a browser carries, so that
 * whatever belongs to a key (audit entries, links, tokens, limits) belongs to a session in the same way.
 */
export const sessions = pgTable(
  'sessions',
  {
    keyId: integer('key_id')
      .primaryKey()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    /** As the browser describes itself. */
    userAgent: text('user_agent'),
    /** The client's network at sign-in. */
    network: text().notNull(),
  },
  (table) => [index('sessions_account').on(table.accountId)],
)
