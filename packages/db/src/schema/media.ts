import { bigint, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

/** Media that came with a request (data: URLs) and waits for its upload. */
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
 * Parts of media before they are joined in media_blobs, because a statement of megabytes would block its process and its
 * connection. Unlogged (declared by the migration): a crash of Postgres empties it before the caller gets a response.
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

/** Bytes in media_blobs for each account. A trigger maintains it. */
export const mediaUsage = pgTable('media_usage', {
  accountId: integer('account_id').primaryKey(),
  bytes: bigint({ mode: 'number' }).notNull(),
})
