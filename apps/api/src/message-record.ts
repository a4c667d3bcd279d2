import type { HistoryMessage } from '@wagate/db/queries/message-history'
import { messageStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'

const moment = z.iso.datetime().nullable()

export const messageRecord = z.object({
  message_id: z.uuid(),
  device_id: z.int(),
  sender: z.string(),
  number: z.string(),
  direction: z.enum(['out', 'in']),
  type: z.enum(['text', 'image', 'video', 'audio', 'document', 'other']),
  message: z.string().nullable(),
  caption: z.string().nullable(),
  url: z.string().nullable().describe('Media that came with the request is shown as data:<type>'),
  status: z.enum(messageStatuses),
  error: z.string().nullable(),
  error_code: z.string().nullable(),
  wa_message_id: z.string(),
  created_at: z.iso.datetime(),
  sent_at: moment,
  delivered_at: moment,
  read_at: moment,
})

export function toMessageRecord(message: HistoryMessage): z.infer<typeof messageRecord> {
  const isMedia = message.type !== 'text' && message.type !== 'other'
  return {
    message_id: message.id,
    device_id: message.deviceId,
    sender: message.sender,
    number: message.number,
    direction: message.direction,
    type: message.type,
    message: isMedia ? null : message.body,
    caption: isMedia ? message.body : null,
    url: message.url,
    status: message.status,
    error: message.error,
    error_code: message.errorCode,
    wa_message_id: message.waId,
    created_at: message.createdAt.toISOString(),
    sent_at: message.sentAt?.toISOString() ?? null,
    delivered_at: message.deliveredAt?.toISOString() ?? null,
    read_at: message.readAt?.toISOString() ?? null,
  }
}
