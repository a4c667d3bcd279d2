import type { MediaState, MediaUnavailableReason } from '@wagate/shared/received-media'
import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

/**
 * The file of a received message. Its bytes are in the media store, under the account and the SHA-256, which several
 * messages may share. A row outlives its file, for as long as its message.
 */
export const receivedMedia = pgTable(
  'received_media',
  {
    messageId: uuid('message_id').primaryKey(),
    accountId: integer('account_id').notNull(),
    deviceId: integer('device_id').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    state: text().$type<MediaState>().notNull(),
    reason: text().$type<MediaUnavailableReason>(),
    /** By the bytes. Null until it is stored. */
    mime: text(),
    /** What the sender claims: for information only. */
    declaredMime: text('declared_mime'),
    filename: text(),
    /** While it is pending, as the sender claims. Nothing else is stored. */
    size: bigint({ mode: 'number' }),
    sha256: bytea(),
    /** Where and with which key to download it, encrypted. Only of a pending one: the key opens the file at WhatsApp. */
    sealed: bytea(),
    attempts: smallint().notNull().default(0),
    /** Null unless it is pending. */
    nextAttemptAt: moment('next_attempt_at'),
  },
  (table) => [
    check('received_media_state', sql`${table.state} IN ('pending', 'stored', 'unavailable')`),
    check('received_media_sealed', sql`(${table.sealed} IS NOT NULL) = (${table.state} = 'pending')`),
    index('received_media_created_at').on(table.createdAt),
    index('received_media_due')
      .on(table.deviceId, table.nextAttemptAt)
      .where(sql`${table.state} = 'pending'`),
    // Finds the messages that need a file, and the bytes that an account uses, without reading the table.
    index('received_media_content')
      .on(table.accountId, table.sha256, table.size)
      .where(sql`${table.state} <> 'unavailable'`),
    index('received_media_kept').on(table.createdAt).where(sql`${table.state} <> 'unavailable'`),
  ],
)
