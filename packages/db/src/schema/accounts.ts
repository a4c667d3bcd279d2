import type { Role } from '@wagate/shared/statuses'
import { index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { bytea, moment, pacing } from './columns.ts'

export const accounts = pgTable(
  'accounts',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    /** Trimmed and lower-case. */
    email: text().notNull(),
    passwordHash: text('password_hash').notNull(),
    role: text().$type<Role>().notNull(),
    devicesAllowed: integer('devices_allowed').notNull(),
    expiresAt: moment('expires_at'),
    /** Its keys and sessions are refused, its senders do not connect. By an ADMIN, or until it is deleted. */
    disabledAt: moment('disabled_at'),
    ...pacing,
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [unique('accounts_email').on(table.email)],
)

export const apiKeys = pgTable(
  'api_keys',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    hash: bytea().notNull(),
    lastFour: text('last_four').notNull(),
    expiresAt: moment('expires_at'),
    revokedAt: moment('revoked_at'),
    lastUsedAt: moment('last_used_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** The key that created it. Null for the first key of an account. */
    createdBy: integer('created_by'),
  },
  (table) => [unique('api_keys_hash').on(table.hash), index('api_keys_account').on(table.accountId)],
)
