import type { Database } from '@wagate/db/client'
import { findSender } from '@wagate/db/queries/devices/devices'
import type { NewMessage } from '@wagate/db/queries/messages/accept-messages'
import type { NewContent } from '@wagate/db/queries/messages/message-content'
import type { MessageProgress } from '@wagate/db/queries/messages/message-progress'
import { readClockMs } from '@wagate/db/queries/statements/clock'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { phoneForms } from '@wagate/shared/phone'
import { highExpirySeconds, placeOf } from '@wagate/shared/priorities'
import type { z } from 'zod'
import { hashPayload } from '../changes/hash-payload.ts'
import { findIdempotencyKey } from '../changes/idempotency-key.ts'
import type { Config } from '../config.ts'
import type { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import type { Deadline } from '../http/deadline.ts'
import type { InlineFile } from '../media/parse-media-url.ts'
import { toContactFields } from '../objects/contact-fields.ts'
import type { AcceptedMessage } from './accepted-message.ts'
import { findRecipient } from './find-recipient.ts'
import type { MessageIntake } from './message-intake.ts'
import { awaitOutcome, type OutcomeWaits } from './outcome-waits.ts'
import type { sendFields, sendParameters } from './send-contract.ts'

const sendAheadMsMax = 30 * 86_400_000

type SendCall = {
  operation: string
  context: {
    db: Database
    config: Pick<Config, 'devices'>
    messages: { intake: MessageIntake; outcomeWaits: OutcomeWaits }
  }
  principal: { accountId: number }
  request: { idempotencyKeyHeader: string | undefined }
  deadline: Deadline
  makeIdempotencyKey(): string
  setHeader(name: string, value: string): void
  warn(sentence: string): void
}

type SendInput = z.infer<z.ZodObject<typeof sendParameters>>
type SendOutput = z.infer<z.ZodObject<typeof sendFields>>
type SendFile = {
  file?: InlineFile | null
  /** Why the content may not be sent, unless the message replays an earlier one. */
  fault?: AppError | undefined
}

/** `given` holds all parameters of the request: equal ones under one idempotency key are one message. */
export async function send(
  call: SendCall,
  given: SendInput,
  content: NewContent,
  file: SendFile = {},
): Promise<SendOutput> {
  const input = await withKnownSender(call, given)
  const { sender, wait = 0, send_at } = input
  const id = makeMessageId(sender)
  if (wait === 0 || send_at) return toOutput(input, await accept(call, id, input, content, file))
  const outcomeWait = call.context.messages.outcomeWaits.begin(call.principal.accountId, sender, id)
  if (!outcomeWait) {
    call.warn('wait was ignored: too many requests are already waiting. Poll message-status instead.')
    return toOutput(input, await accept(call, id, input, content, file))
  }
  try {
    const accepted = await accept(call, id, input, content, file)
    return toOutput(input, accepted, await awaitOutcome(call, outcomeWait, accepted, wait * 1000))
  } finally {
    outcomeWait.end()
  }
}

/** The account may have created the sender with the other form of its number, from which the ids of messages are made. */
async function withKnownSender({ context, principal }: SendCall, input: SendInput): Promise<SendInput> {
  if (phoneForms(input.sender).length === 1) return input
  const known = await findSender(context.db, principal.accountId, input.sender)
  return known && known.sender !== input.sender ? { ...input, sender: known.sender } : input
}

async function accept(
  call: SendCall,
  id: string,
  input: SendInput,
  content: NewContent,
  { file = null, fault: fileFault }: SendFile,
): Promise<AcceptedMessage> {
  const { sender, send_at, priority = 'normal' } = input
  const sendAt = send_at?.toISOString() ?? null
  const { number, lidJid, quoted, fault } = await findRecipient(call, input)
  const accepted = await call.context.messages.intake.accept(
    {
      id,
      waId: whatsAppIdOf(id),
      accountId: call.principal.accountId,
      sender,
      number,
      lidJid,
      media: null,
      sendAt,
      replyTo: quoted,
      typingSeconds: input.typing || null,
      reference: input.reference ?? null,
      priority: placeOf(priority),
      expiresInSeconds: input.expires_in ?? (priority === 'high' ? highExpirySeconds : null),
      idempotency: await findIdempotency(call, input, sendAt, { mustHave: file !== null }),
      // Last: V8 takes 15 µs for such an object when it begins with a spread, and 0.2 µs for this one.
      ...content,
    },
    call.deadline,
    // A replay is answered even when its time has passed since the first request.
    {
      file,
      fault: (send_at && (await findTimeFault(call, send_at))) ?? fault ?? fileFault,
    },
  )
  if (accepted.isReplay) call.setHeader('Idempotent-Replayed', 'true')
  if (accepted.away && accepted.away.forMs >= call.context.config.devices.statusGraceMs) {
    call.warn(`The sender is not connected (${accepted.away.reason}). The message waits until it reconnects.`)
  }
  if (accepted.hold) {
    const { until } = accepted.hold
    call.warn(
      `The sender is paused: the message waits until ${until ? until.toISOString() : 'resume-sender'}.`,
    )
  }
  return accepted
}

function toOutput(
  { sender, reference }: SendInput,
  { messageId, deviceId, status, contact }: AcceptedMessage,
  progress?: MessageProgress,
): SendOutput {
  return {
    message_id: messageId,
    status: progress?.status ?? status,
    sender,
    ...toContactFields(contact),
    device_id: deviceId,
    ...(reference !== undefined && { reference }),
    ...(progress?.error && { error: progress.error }),
    ...(progress?.errorCode && { error_code: progress.errorCode }),
  }
}

/** A file takes longer than a text: its request may time out while Postgres stores it. */
async function findIdempotency(
  call: SendCall,
  input: SendInput,
  sendAt: string | null,
  { mustHave }: { mustHave: boolean },
): Promise<NewMessage['idempotency']> {
  const given = findIdempotencyKey(call, input.idempotency_key)
  const key = given ?? (mustHave ? call.makeIdempotencyKey() : undefined)
  if (key === undefined) return null
  // Stored hashes depend on the order of `payload`, which is that of the operation's parameters.
  const { sender, number, idempotency_key, wait, send_at, ...payload } = input
  const payloadHash = await hashPayload([sender, number, sendAt, payload])
  return { operation: call.operation, key, payloadHash }
}

/** The clock of this process may be wrong, so nothing is refused by it alone. */
async function findTimeFault(
  { context }: Pick<SendCall, 'context'>,
  sendAt: Date,
): Promise<AppError | undefined> {
  const isPossibleAt = (nowMs: number) => {
    const aheadMs = sendAt.getTime() - nowMs
    return aheadMs > 0 && aheadMs <= sendAheadMsMax
  }
  if (isPossibleAt(Date.now()) || isPossibleAt(await readClockMs(context.db.$client))) return undefined
  return invalidParameter('send_at', 'must be in the future, at most 30 days ahead')
}
