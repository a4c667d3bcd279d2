import { index, integer, pgTable, smallint, text, unique } from 'drizzle-orm/pg-core'
import { accounts, apiKeys } from './accounts.ts'
import { bytea, moment } from './columns.ts'

/** Tokens with which a page reads the events of an account without an API key. */
export const streamTokens = pgTable(
  'stream_tokens',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    /** The key that created the token. The token is invalid once this key is revoked or has expired. */
    keyId: integer('key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    hash: bytea().notNull(),
    /** The only events that it shows. Null: all. See `eventTypes`. */
    types: smallint().array(),
    /** The only device whose events it shows. Null: all. */
    deviceId: integer('device_id'),
    /** As `formatEventId` writes it: only later events are shown. Null in tokens of earlier versions, which show all. */
    after: text(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    unique('stream_tokens_hash').on(table.hash),
    index('stream_tokens_account').on(table.accountId),
  ],
)
