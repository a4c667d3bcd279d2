import { extensibleEnum } from '@wagate/shared/objects/extensible-enum'
import { highExpirySeconds, priorities } from '@wagate/shared/priorities'
import { outgoingStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'
import { idempotencyKeyParameter } from '../changes/idempotency-key.ts'
import { messageErrorGuide } from '../errors/message-error-guide.ts'
import type { RequestErrorCode } from '../errors/request-errors.ts'
import { contactFields } from '../objects/contact-fields.ts'
import { integer, lid, moment, phone, text } from '../parameters/parameter-types.ts'
import { unlessGiven } from '../parameters/parse-parameters.ts'

export const reference = text(190)

/** The parameters that the operations share that send a message. */
export const sendParameters = {
  sender: phone.describe('Phone number of a linked sender of the account'),
  number: unlessGiven(
    ['lid', 'reply_to'],
    phone
      .optional()
      .describe(
        'Phone number of the recipient, with country prefix. Required without `lid`, unless `reply_to` names a message of the recipient',
      ),
  ),
  lid: lid.optional().describe('LID of the recipient, instead of `number`'),
  idempotency_key: idempotencyKeyParameter,
  wait: integer(0, 25)
    .optional()
    .describe(
      'Seconds to wait until the message is sent or has failed. Ignored, with a warning, while 200 requests of the account are waiting',
    ),
  send_at: moment.optional().describe('Time at which to send, up to 30 days ahead'),
  typing: integer(0, 10)
    .optional()
    .describe(
      'Seconds for which the recipient sees that the sender is typing, or recording, before the message',
    ),
  reply_to: z
    .string()
    .regex(/^[!-~]{1,128}$/, 'must be a message_id or a wa_message_id')
    .optional()
    .describe(
      '`message_id` or `wa_message_id` of a message of this chat that the new one quotes. Without `number` and `lid`, the new message goes to its contact',
    ),
  reference: reference
    .optional()
    .describe(
      'What the caller calls the message, such as the ID of an order. It is in every record, event and webhook of the message, and in logs of the gateway. Several messages may have the same one',
    ),
  priority: z
    .enum(priorities)
    .optional()
    .describe(
      'What leaves first, `normal` by default: `high` is for what a person waits for, such as a one-time code, and leaves before everything else that waits for the sender; `bulk` leaves after everything else. Messages of one priority to one recipient stay in order',
    ),
  expires_in: integer(5, 30 * 86_400)
    .optional()
    .describe(
      `Seconds after which the message is of no use any more, from its acceptance or \`send_at\` on. If it has not left by then, it never does, and fails with \`message_expired\`. ${highExpirySeconds} by default for the priority \`high\``,
    ),
}

/** The response fields that they share. */
export const sendFields = {
  message_id: z.uuid().describe('ID to use with message-status and messages'),
  status: extensibleEnum(outgoingStatuses).describe(
    '`queued`, or `scheduled` with `send_at`; with `wait`, the latest status',
  ),
  sender: z.string().describe('Digits only'),
  ...contactFields,
  device_id: z.int(),
  reference: z.string().optional().describe('That of the request'),
  error: z.string().optional().describe('With `wait`: why the message failed'),
  error_code: extensibleEnum(Object.keys(messageErrorGuide))
    .optional()
    .describe('Machine-readable error code'),
}

/** The error codes that they share. */
export const sendErrors: RequestErrorCode[] = [
  'missing_parameter',
  'sender_not_found',
  'sender_not_connected',
  'sender_blocked',
  'sender_paused',
  'queue_full',
  'message_not_found',
]

export const exampleAddress = { sender: '4915112345678', number: '4915187654321' }

export const exampleSent = {
  message_id: '019c13f5-6a3c-7bd2-9d2f-3f6a52b1c7e4',
  status: 'queued' as const,
  ...exampleAddress,
  device_id: 7,
}
