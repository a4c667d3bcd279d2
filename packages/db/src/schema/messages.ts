import type { MessageStatus, MessageType } from '@wagate/shared/statuses'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

/** Partitioned by week of created_at: the migration declares it, drizzle only knows the columns. */
export const messages = pgTable(
  'messages',
  {
    id: uuid().notNull(),
    seq: bigint({ mode: 'number' }).notNull().default(sql`nextval('messages_seq')`),
    accountId: integer('account_id').notNull(),
    deviceId: integer('device_id').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    direction: text().$type<'out' | 'in'>().notNull(),
    type: text().$type<MessageType>().notNull(),
    sender: text().notNull(),
    /** The other party. */
    number: text().notNull(),
    body: text(),
    url: text(),
    filename: text(),
    status: text().$type<MessageStatus>().notNull(),
    /** What the index of waiting messages goes by: a change of `status` alone then touches no index. */
    isWaiting: boolean('is_waiting').notNull().generatedAlwaysAs(sql`status IN ('queued', 'sending')`),
    errorCode: text('error_code'),
    error: text(),
    /** Of what we send it comes of the id and back (packages/shared/src/ids.ts): only what is received is searched by it. */
    waId: text('wa_id').notNull(),
    /** The recipient as WhatsApp resolved it: order and blocking go by it. */
    recipientJid: text('recipient_jid'),
    linkGeneration: integer('link_generation').notNull(),
    sendAt: moment('send_at'),
    sentAt: moment('sent_at'),
    deliveredAt: moment('delivered_at'),
    readAt: moment('read_at'),
    /** WhatsApp's media content after the upload (keys, path), encrypted: a resend does not upload again. */
    uploadedContent: bytea('uploaded_content'),
    /** Epoch of the owner that is preparing or sending it, or waits for the answer. */
    heldEpoch: bigint('held_epoch', { mode: 'number' }),
    /** How many owners in a row died or lost their lease while they held it. */
    interruptions: smallint().notNull().default(0),
    /** What kept it from being sent the last time. */
    setback: text(),
  },
  (table) => [
    primaryKey({ name: 'messages_pk', columns: [table.id, table.createdAt] }),
    index('messages_history').on(
      table.accountId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('messages_number').on(
      table.accountId,
      table.number,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('messages_sender').on(
      table.accountId,
      table.sender,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    // By the code and not by the status: an index that knew the status would have to be written at every change of it.
    index('messages_failed')
      .on(table.accountId, table.createdAt.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`${table.errorCode} IS NOT NULL`),
    index('messages_received').on(table.deviceId, table.waId).where(sql`${table.direction} = 'in'`),
    // What waits is in one of these two: those that were scheduled are found by their time, however many there are.
    index('messages_ready')
      .on(table.deviceId, table.seq)
      .where(sql`${table.isWaiting} AND ${table.sendAt} IS NULL`),
    index('messages_scheduled')
      .on(table.deviceId, table.sendAt, table.seq)
      .where(sql`${table.isWaiting} AND ${table.sendAt} IS NOT NULL`),
    // For the versions before these two, which run beside this one during a rolling deployment. To be dropped next.
    index('messages_waiting').on(table.deviceId, table.seq).where(sql`${table.isWaiting}`),
    index('messages_sent').on(table.deviceId, table.sentAt).where(sql`${table.sentAt} IS NOT NULL`),
  ],
)
