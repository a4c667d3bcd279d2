import { index, integer, jsonb, pgTable, unique } from 'drizzle-orm/pg-core'
import { accounts, apiKeys } from './accounts.ts'
import { bytea, moment } from './columns.ts'
import { devices } from './devices.ts'

/** Texts of the caller. People see them before they link, and after it an offer to go to `return_url`. */
export type LinkPage = { title?: string; return_url?: string }

/** One-time links with which a person links one device without an API key. */
export const pairingLinks = pgTable(
  'pairing_links',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    deviceId: integer('device_id')
      .notNull()
      .references(() => devices.id, { onDelete: 'cascade' }),
    /** The key that created the link. The link is invalid once this key is revoked or has expired. */
    keyId: integer('key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    linkHash: bytea('link_hash').notNull(),
    /** Of the session for which the link was exchanged. Null until then. */
    sessionHash: bytea('session_hash'),
    /** What the page shows of the one who asks. Null in links of versions before it. */
    page: jsonb().$type<LinkPage>(),
    /** Of the link and of its session. */
    expiresAt: moment('expires_at').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    unique('pairing_links_link_hash').on(table.linkHash),
    unique('pairing_links_session_hash').on(table.sessionHash),
    index('pairing_links_device').on(table.deviceId),
    index('pairing_links_created_at').on(table.createdAt),
  ],
)
