import { bigint, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

/** Who changed what. A trigger in the migrations refuses changes, and deletion before `installation.retention_days`. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    /** Who did it; null is the command line. No references: an entry outlives what it tells of. */
    accountId: integer('account_id'),
    keyId: integer('key_id'),
    operation: text().notNull(),
    /** `account:7`, `key:7` or `device:7`. */
    target: text().notNull(),
    /** What became of the target, in a word. */
    result: text().notNull(),
    ip: text(),
    /** As the answer names it: what the caller sent, if anything. */
    requestId: text('request_id'),
    /** Made by the gateway, so that no caller can choose it. */
    exchangeId: text('exchange_id'),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('audit_log_account').on(table.accountId, table.id),
    index('audit_log_created_at').on(table.createdAt),
  ],
)
