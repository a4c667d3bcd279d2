import { bigint, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

/** Media that came with the request (data: URLs) and waits for its upload. */
export const mediaBlobs = pgTable(
  'media_blobs',
  {
    messageId: uuid('message_id').primaryKey(),
    accountId: integer('account_id').notNull(),
    mime: text().notNull(),
    bytes: bytea().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('media_blobs_created_at').on(table.createdAt),
    index('media_blobs_account').on(table.accountId, table.createdAt),
  ],
)

/**
 * Media on their way into media_blobs: a statement of megabytes would hold up its process and its connection.
 * Unlogged, which the migration says: a crash of Postgres empties it, and a caller was not answered yet.
 */
export const mediaParts = pgTable(
  'media_parts',
  {
    uploadId: uuid('upload_id').notNull(),
    position: integer().notNull(),
    accountId: integer('account_id').notNull(),
    bytes: bytea().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.uploadId, table.position] }),
    index('media_parts_created_at').on(table.createdAt),
  ],
)

/** Bytes in media_blobs for each account. A trigger in the migration keeps it. */
export const mediaUsage = pgTable('media_usage', {
  accountId: integer('account_id').primaryKey(),
  bytes: bigint({ mode: 'number' }).notNull(),
})
