import { z } from 'zod'
import { lidOf, numberOf } from '../contact-key.ts'
import { messageErrors } from '../message-errors.ts'
import { isMediaType, type MessageType, messageTypes } from '../message-kinds.ts'
import { priorities } from '../priorities.ts'
import { type MessageStatus, messageStatuses } from '../statuses.ts'
import { type UnavailableReason, unavailableReasons } from '../unavailable.ts'
import { extensibleEnum } from './extensible-enum.ts'
import { type MediaLinker, type MediaRow, mediaObject, toMediaObject } from './media-object.ts'
import { type MessageContent, messageContent, type QuotedMessage, quotedMessage } from './message-content.ts'

const moment = z.iso.datetime().nullable()

export const messageObject = z
  .object({
    message_id: z.uuid(),
    device_id: z.int(),
    sender: z.string(),
    number: z
      .string()
      .nullable()
      .describe('The other phone number of the conversation. Null when WhatsApp does not tell it'),
    lid: z
      .string()
      .nullable()
      .describe('Identifier (LID) of the other WhatsApp account, in digits. Null when it is not known'),
    username: z
      .string()
      .nullable()
      .describe(
        'User name of the other WhatsApp account. Null when it has none, or WhatsApp does not tell it',
      ),
    direction: z.enum(['out', 'in']),
    source: extensibleEnum(['gateway', 'phone', 'companion'])
      .nullable()
      .describe(
        'Where a message with the direction `out` was written: by callers of the gateway, on the phone of the account, or on another linked device. null for received ones',
      ),
    type: extensibleEnum(messageTypes),
    message: z.string().nullable(),
    caption: z.string().nullable(),
    url: z
      .string()
      .nullable()
      .describe(
        'For a file that was sent in a data: URL, `data:<type>`; for an uploaded one, `media:<media_id>`',
      ),
    filename: z.string().nullable().describe('Name of a document'),
    content: messageContent.nullable().describe('What a message has besides its text'),
    reply_to: quotedMessage.nullable().describe('The message that this one quotes'),
    media: mediaObject
      .nullable()
      .describe('File of a message that was received or written on the phone; null for all others'),
    unavailable: extensibleEnum(unavailableReasons)
      .nullable()
      .describe(
        'Why the gateway has no content of a received message, which the phone of the account may show. null for one with its content',
      ),
    push_name: z.string().nullable().describe('Name that the contact has given itself. It may say anything'),
    status: z.enum(messageStatuses),
    error: z.string().nullable().describe('Why the message failed'),
    error_code: extensibleEnum(Object.keys(messageErrors)).nullable().describe('Machine-readable error code'),
    wa_message_id: z.string().describe('ID of the message at WhatsApp'),
    reference: z
      .string()
      .nullable()
      .describe(
        'What the request of the message gave as `reference`; null for others, and for received ones',
      ),
    priority: z
      .enum(priorities)
      .nullable()
      .describe('What leaves first. null for what the gateway does not send'),
    created_at: z.iso.datetime(),
    send_at: moment.describe('Time at which it is to be sent, if the request had one'),
    expires_at: moment.describe(
      'Time at which it fails if it has not left by then; the installation may end it earlier. null: only that',
    ),
    written_at: moment.describe(
      "When the contact, or the account on its phone, wrote it, by WhatsApp's clock. `created_at` is when the gateway got it. null for what the gateway sends",
    ),
    sent_at: moment,
    delivered_at: moment,
    read_at: moment.describe(
      'Of a received message, when its contact was told so with mark-read, or when it was read on the phone',
    ),
    edited_at: moment.describe('When its author last replaced the text'),
    deleted_at: moment.describe('When its author deleted the message for everyone. Its text is removed'),
    played_at: moment.describe('When the recipient listened to it. Its status stays `read`'),
  })
  .meta({ id: 'Message' })

export const exampleMessage: z.infer<typeof messageObject> = {
  message_id: '019c13f5-6a3c-7bd2-9d2f-3f6a52b1c7e4',
  device_id: 7,
  sender: '4915112345678',
  number: '4915187654321',
  lid: null,
  username: null,
  direction: 'out',
  source: 'gateway',
  type: 'text',
  message: 'Your order is on its way.',
  caption: null,
  url: null,
  filename: null,
  content: null,
  reply_to: null,
  media: null,
  unavailable: null,
  push_name: null,
  status: 'delivered',
  error: null,
  error_code: null,
  wa_message_id: '3EB0280A488696CFC30D42',
  reference: null,
  priority: 'normal',
  created_at: '2026-01-31T12:00:00.000Z',
  send_at: null,
  expires_at: null,
  written_at: null,
  sent_at: '2026-01-31T12:00:00.412Z',
  delivered_at: '2026-01-31T12:00:01.020Z',
  read_at: null,
  edited_at: null,
  deleted_at: null,
  played_at: null,
}

/** A message as the database has it. `contactJid`: the address of the other party that is not its number, if any. */
export type MessageRow = {
  id: string
  deviceId: number
  sender: string
  /** The key of the other party (contact-key.ts). Empty when its address is neither a number nor a LID. */
  number: string
  contactJid: string | null
  /** What the account knows of the other party besides. */
  contact: { lidJid: string; username: string | null } | null
  direction: 'out' | 'in'
  type: MessageType
  body: string | null
  url: string | null
  filename: string | null
  content: MessageContent | null
  replyTo: QuotedMessage | null
  media: MediaRow | null
  status: MessageStatus
  error: string | null
  errorCode: string | null
  waId: string
  reference: string | null
  /** Its place in the list of priorities. */
  priority: number
  createdAt: Date
  sendAt: Date | null
  expiresAt: Date | null
  sentAt: Date | null
  deliveredAt: Date | null
  readAt: Date | null
  editedAt: Date | null
  deletedAt: Date | null
  playedAt: Date | null
  unavailable: UnavailableReason | null
  writtenAt: Date | null
  pushName: string | null
  source: 'phone' | 'companion' | null
}

/** Without `linkTo`, received files have no links. */
export function toMessageObject(message: MessageRow, linkTo?: MediaLinker): z.infer<typeof messageObject> {
  const isMedia = isMediaType(message.type)
  const isSent = message.direction === 'out' && !message.source
  return {
    message_id: message.id,
    device_id: message.deviceId,
    sender: message.sender,
    number: numberOf(message.number),
    lid: lidOf(message.contactJid) ?? lidOf(message.contact?.lidJid),
    username: message.contact?.username ?? null,
    direction: message.direction,
    source: message.direction === 'in' ? null : (message.source ?? 'gateway'),
    type: message.type,
    message: isMedia ? null : message.body,
    caption: isMedia ? message.body : null,
    url: message.url,
    filename: message.filename,
    content: message.content,
    reply_to: message.replyTo,
    media: message.media && toMediaObject(message.id, message.media, linkTo),
    unavailable: message.unavailable,
    push_name: message.pushName,
    status: message.status,
    error: message.error,
    error_code: message.errorCode,
    wa_message_id: message.waId,
    reference: message.reference,
    priority: isSent ? (priorities[message.priority] ?? null) : null,
    created_at: message.createdAt.toISOString(),
    send_at: message.sendAt?.toISOString() ?? null,
    expires_at: message.expiresAt?.toISOString() ?? null,
    written_at: message.writtenAt?.toISOString() ?? null,
    // Only what the gateway sends counts towards its pace, by the column.
    sent_at: (message.sentAt ?? (message.source && message.writtenAt))?.toISOString() ?? null,
    delivered_at: message.deliveredAt?.toISOString() ?? null,
    read_at: message.readAt?.toISOString() ?? null,
    edited_at: message.editedAt?.toISOString() ?? null,
    deleted_at: message.deletedAt?.toISOString() ?? null,
    played_at: message.playedAt?.toISOString() ?? null,
  }
}
