import { index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    accountId: integer('account_id').notNull(),
    operation: text().notNull(),
    key: text().notNull(),
    payloadHash: bytea('payload_hash').notNull(),
    messageId: uuid('message_id'),
    response: jsonb(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: 'idempotency_keys_pk', columns: [table.accountId, table.operation, table.key] }),
    index('idempotency_keys_created_at').on(table.createdAt),
  ],
)
