import type { Role } from '@wagate/shared/statuses'
import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { bytea, moment } from './columns.ts'

export type MailedLinkPurpose = 'sign-up' | 'invitation' | 'new-password' | 'new-email'

/** Links in mails. They expire, and are deleted when they are used. */
export const mailedLinks = pgTable(
  'mailed_links',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    purpose: text().$type<MailedLinkPurpose>().notNull(),
    /** To whom the link was sent. Trimmed and lower-case. */
    email: text().notNull(),
    /** The account that has asked for a new password or a new email address. Null while there is no account. */
    accountId: integer('account_id').references(() => accounts.id, { onDelete: 'cascade' }),
    hash: bytea().notNull(),
    /** What an invitation gives. Null: the defaults. */
    role: text().$type<Role>(),
    devicesAllowed: integer('devices_allowed'),
    accountExpiresAt: moment('account_expires_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    unique('mailed_links_hash').on(table.hash),
    index('mailed_links_email').on(table.email),
    index('mailed_links_account').on(table.accountId),
    index('mailed_links_expires_at').on(table.expiresAt),
    check(
      'mailed_links_account_known',
      sql`(${table.accountId} IS NULL) = (${table.purpose} IN ('sign-up', 'invitation'))`,
    ),
  ],
)
