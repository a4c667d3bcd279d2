import { sql } from 'drizzle-orm'
import { bigint, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

/**
 * Files that callers uploaded for sends to come. The bytes are in the media store, under account and id. A row is older than
 * its file, and is deleted after it.
 */
export const uploadedMedia = pgTable(
  'uploaded_media',
  {
    mediaId: uuid('media_id').primaryKey(),
    accountId: integer('account_id').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** No new message can have it from then on. */
    expiresAt: moment('expires_at').notNull(),
    /** Null until the file is in the store. */
    storedAt: moment('stored_at'),
    /** By the bytes. */
    mime: text().notNull(),
    filename: text(),
    size: bigint({ mode: 'number' }).notNull(),
    sha256: bytea().notNull(),
  },
  (table) => [
    index('uploaded_media_account').on(table.accountId, table.expiresAt),
    index('uploaded_media_expires_at').on(table.expiresAt),
    index('uploaded_media_unfinished').on(table.createdAt).where(sql`${table.storedAt} IS NULL`),
  ],
)
