import type { MessageType } from '@wagate/shared/message-kinds'
import type { MessageContent, QuotedMessage } from '@wagate/shared/objects/message-content'
import type { MessageStatus } from '@wagate/shared/statuses'
import type { UnavailableReason } from '@wagate/shared/unavailable'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

/** Partitioned by week of `created_at`. Only the migration declares that: drizzle cannot. */
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
    /** The other party. Empty when WhatsApp does not tell the number that a message came from. */
    number: text().notNull(),
    body: text(),
    url: text(),
    filename: text(),
    status: text().$type<MessageStatus>().notNull(),
    /** The indexes of waiting messages use it, so that most changes of `status` need not update an index. */
    isWaiting: boolean('is_waiting').notNull().generatedAlwaysAs(sql`status IN ('queued', 'sending')`),
    errorCode: text('error_code'),
    error: text(),
    /** For outgoing messages it is derived from `id` and can be mapped back (ids.ts), so only received ones are indexed. */
    waId: text('wa_id').notNull(),
    /**
     * The recipient as WhatsApp resolved it. Messages are ordered and held back by it. Of a received message, the address
     * that it came from, if that is not the number.
     */
    recipientJid: text('recipient_jid'),
    linkGeneration: integer('link_generation').notNull(),
    sendAt: moment('send_at'),
    sentAt: moment('sent_at'),
    deliveredAt: moment('delivered_at'),
    readAt: moment('read_at'),
    /** The recipient has listened to it. Its status stays `read`. */
    playedAt: moment('played_at'),
    /** The uploaded media's keys and path, encrypted, so that a resend needs no further upload. */
    uploadedContent: bytea('uploaded_content'),
    /** Epoch of the owner that prepares or sends it or waits for its acknowledgement. */
    heldEpoch: bigint('held_epoch', { mode: 'number' }),
    /** How many owners in a row died or lost their lease while they had claimed it. */
    interruptions: smallint().notNull().default(0),
    /** Why it could not be sent the last time. */
    setback: text(),
    /** Since when it can be neither prepared nor sent, for reasons of its own. Null while nothing is wrong with it. */
    failingSince: moment('failing_since'),
    /** When its owner tries it again, after a setback. */
    retryAt: moment('retry_at'),
    /** How often it was claimed to be sent. */
    attempts: smallint().notNull().default(0),
    /** What became of its attempts (timeline-entries.ts). Null before the first one. */
    timeline: bytea(),
    content: jsonb().$type<MessageContent>(),
    replyTo: jsonb('reply_to').$type<QuotedMessage>(),
    /** For how long its recipient is shown that the sender is typing. Null: not at all. */
    typingSeconds: smallint('typing_seconds'),
    /** Why a received message has no content. Null for one that has it. */
    unavailable: text().$type<UnavailableReason>(),
    /** By WhatsApp's clock. Of messages that others than the gateway have written. */
    writtenAt: moment('written_at'),
    /** The name that the author has chosen for itself. */
    pushName: text('push_name'),
    /** Where the own account has written it, if not through the gateway. */
    source: text().$type<'phone' | 'companion'>(),
    /** What the caller calls it. */
    reference: text(),
    /** Its place in the list of priorities (priorities.ts): a lower one leaves first. */
    priority: smallint().notNull().default(1),
    /** From then on it is not claimed. Null: only `MESSAGE_TTL_MS` limits how long it waits. */
    expiresAt: moment('expires_at'),
    /** The contact has replaced its text, which is not kept. */
    editedAt: moment('edited_at'),
    /** The contact has deleted it, so its content is removed. */
    deletedAt: moment('deleted_at'),
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
    // By the error code, because an index on the status would be written at every change of it.
    index('messages_failed')
      .on(table.accountId, table.createdAt.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`${table.errorCode} IS NOT NULL`),
    // Costs nothing for what is sent, and no status of a received message changes.
    index('messages_incoming')
      .on(table.accountId, table.createdAt.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`${table.direction} = 'in'`),
    // Costs nothing for messages without one.
    index('messages_reference')
      .on(table.accountId, table.reference, table.createdAt.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`${table.reference} IS NOT NULL`),
    index('messages_received').on(table.deviceId, table.waId).where(sql`${table.direction} = 'in'`),
    // Its id is not derived from that at WhatsApp, as that of a message which the gateway sends.
    index('messages_from_phone').on(table.deviceId, table.waId).where(sql`${table.source} IS NOT NULL`),
    // Each waiting message is in one of these two, so that scheduled ones that are not due are never read.
    index('messages_ready')
      .on(table.deviceId, table.seq)
      .where(sql`${table.isWaiting} AND ${table.sendAt} IS NULL`),
    index('messages_scheduled')
      .on(table.deviceId, table.sendAt, table.seq)
      .where(sql`${table.isWaiting} AND ${table.sendAt} IS NOT NULL`),
    // The same by priority, for the owner, which reads each priority for itself.
    index('messages_ready_by_priority')
      .on(table.deviceId, table.priority, table.seq)
      .where(sql`${table.isWaiting} AND ${table.sendAt} IS NULL`),
    index('messages_scheduled_by_priority')
      .on(table.deviceId, table.priority, table.sendAt, table.seq)
      .where(sql`${table.isWaiting} AND ${table.sendAt} IS NOT NULL`),
    // Costs nothing for messages without an end.
    index('messages_expiring')
      .on(table.expiresAt)
      .where(sql`${table.isWaiting} AND ${table.expiresAt} IS NOT NULL`),
    index('messages_sent').on(table.deviceId, table.sentAt).where(sql`${table.sentAt} IS NOT NULL`),
  ],
)
