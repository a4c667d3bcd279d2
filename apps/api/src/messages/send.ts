import type { NewMessage } from '@wagate/db/queries/accept-messages'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { outgoingStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'
import { findIdempotencyKey, hashPayload, idempotencyKeyParameter } from '../changes/idempotency-key.ts'
import { AppError } from '../errors/app-error.ts'
import { messageErrorGuide } from '../errors/error-catalogue.ts'
import type { RequestErrorCode } from '../errors/request-errors.ts'
import type { InlineFile } from '../media/parse-media-url.ts'
import { openText } from '../openapi/extensible-enum.ts'
import type { Call } from '../operation.ts'
import { integer, moment, phone } from '../parameters/parameter-types.ts'
import { awaitOutcome } from './await-outcome.ts'

const sendAheadMsMax = 30 * 86_400_000

/** What both sends take. */
export const sendParameters = {
  sender: phone.describe('Phone number of a linked sender of the account'),
  number: phone.describe('Phone number of the recipient, with country prefix'),
  idempotency_key: idempotencyKeyParameter,
  wait: integer(0, 25)
    .optional()
    .describe(
      'Seconds to wait for the message to be sent or to fail. Ignored, with a warning, while 200 requests of the account wait',
    ),
  send_at: moment.optional().describe('When to send, up to 30 days ahead'),
}

/** What both sends answer. */
export const sendFields = {
  message_id: z.uuid().describe('By which the history knows it'),
  status: openText(outgoingStatuses).describe('`queued`, or `scheduled` with send_at; the newest with wait'),
  sender: z.string().describe('Digits only'),
  number: z.string().describe('Digits only'),
  device_id: z.int(),
  error: z.string().optional().describe('With wait: why the message failed'),
  error_code: openText(Object.keys(messageErrorGuide)).optional().describe('The same for programs'),
}

/** What both sends refuse with. */
export const sendErrors: RequestErrorCode[] = [
  'sender_not_found',
  'sender_not_connected',
  'sender_blocked',
  'queue_full',
]

export const exampleAddress = { sender: '4915112345678', number: '4915187654321' }

export const exampleSent = {
  message_id: '019c13f5-6a3c-7bd2-9d2f-3f6a52b1c7e4',
  status: 'queued' as const,
  ...exampleAddress,
  device_id: 7,
}

type Given = {
  sender: string
  number: string
  idempotency_key?: string | undefined
  wait?: number | undefined
  send_at?: Date | undefined
}
type Content = Pick<NewMessage, 'type' | 'body' | 'url' | 'filename'> & { file: InlineFile | null }

/** `payload` is all that makes a repetition the same request, beside what both sends take. */
export async function send(
  call: Call,
  operation: string,
  given: Given,
  { content, payload }: { content: Content; payload: unknown },
): Promise<z.infer<z.ZodObject<typeof sendFields>>> {
  const { sender, number, wait = 0 } = given
  const sendAt = given.send_at?.toISOString()
  const id = makeMessageId(sender)
  const key = findIdempotencyKey(call, given.idempotency_key)
  const accepted = await call.context.inbox.accept(
    {
      id,
      waId: whatsAppIdOf(id),
      accountId: call.account.accountId,
      sender,
      number,
      // One by one: V8 takes 5 µs to spread an object into a larger one, a tenth of the whole request.
      type: content.type,
      body: content.body,
      url: content.url,
      filename: content.filename,
      media: null,
      sendAt: sendAt ?? null,
      idempotency:
        key === undefined
          ? null
          : { operation, key, payloadHash: await hashPayload([sender, number, sendAt ?? null, payload]) },
    },
    call.deadline,
    // Its time may have passed since the request that this one repeats.
    { file: content.file, fault: given.send_at && findFaultOf(given.send_at) },
  )
  if (accepted.isReplay) call.setHeader('Idempotent-Replayed', 'true')
  if (accepted.away && accepted.away.forMs >= call.context.config.STATUS_GRACE_MS) {
    call.warn(`The sender is not connected (${accepted.away.reason}). The message waits until it is.`)
  }
  const { messageId, deviceId } = accepted
  const progress = wait > 0 && !sendAt ? await awaitOutcome(call, accepted, wait * 1000) : undefined
  return {
    message_id: messageId,
    status: progress?.status ?? accepted.status,
    sender,
    number,
    device_id: deviceId,
    ...(progress?.error && { error: progress.error }),
    ...(progress?.errorCode && { error_code: progress.errorCode }),
  }
}

function findFaultOf(sendAt: Date): AppError | undefined {
  const aheadMs = sendAt.getTime() - Date.now()
  if (aheadMs > 0 && aheadMs <= sendAheadMsMax) return undefined
  const message = 'must lie in the future, at most 30 days ahead'
  return new AppError('invalid_parameter', `send_at ${message}`, {
    details: [{ parameter: 'send_at', message }],
  })
}
