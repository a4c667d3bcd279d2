import type { MessageOutcome } from '@wagate/db/queries/messages/message-outcomes'
import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { type MessageErrorCode, messageErrors } from '@wagate/shared/message-errors'
import type { Setback } from '@wagate/shared/timeline-marks'
import { MediaUnavailable } from '../media/media-error.ts'
import type { Lease } from '../ownership/lease.ts'
import { isBelievable, type Outcome } from '../session/sending/outcomes.ts'
import { untilStored } from '../statements/until-stored.ts'
import type { Hands, Work } from './message-hands.ts'
import { LookUpsPaused } from './number-resolver.ts'
import type { OutboxContext, OutboxDevice } from './outbox-context.ts'
import { addressesOf, laneOf, type Turn } from './recipient-lanes.ts'
import type { SetbackDetails } from './retries.ts'
import type { WaitingList } from './waiting-list.ts'

/**
 * What came of an attempt to send a message, and what follows: it leaves the list (acknowledged, failed), it stays there for
 * another attempt (a setback, which is stored for callers who read its timeline), or it is left to Postgres, to be read again
 * (paused) or not (canceled, or another owner has it).
 */
export type Settlement = {
  /** `isBlamed`: the connection worked before the message was sent. */
  conclude(turn: Turn, result: AttemptResult, isBlamed: boolean): Promise<void>
  /** Its work threw. Resolves when it may be tried again, or when its end is stored. */
  noteFailed(turn: Turn, work: Work, error: unknown): Promise<void>
  /** An acknowledgement that came too late for its attempt spares the message the next one. Returns whether it did. */
  acknowledgeLate(waId: string, outcome: Outcome): boolean
  /** Resolves when what WhatsApp has acknowledged is recorded. */
  untilRecorded(): Promise<unknown>
}

type Parts = {
  waiting: WaitingList
  hands: Hands
  results: MessageResults
  recipientOf(message: WaitingMessage): string | null | undefined
}

export function makeSettlement(
  { config, statements, logger }: Pick<OutboxContext, 'config' | 'statements' | 'logger'>,
  { id: deviceId, lease, retries, pace: { pacer } }: Pick<OutboxDevice, 'id' | 'lease' | 'retries' | 'pace'>,
  { waiting, hands, results, recipientOf }: Parts,
): Settlement {
  const recordings = new Set<Promise<void>>()

  /** Records in the background that it is sent: the next message to its recipient does not wait for this. */
  function acknowledge(turn: Turn): void {
    hands.move(turn, 'acknowledge')
    const recording = results.recordSent(turn.message).then(() => {
      waiting.remove(turn.message)
      hands.drop(turn.message)
      recordings.delete(recording)
    })
    recordings.add(recording)
  }

  /** Remembers that the message has to be sent again, and stores why. If that cannot be stored, it is not tried again. */
  async function noteSetback(
    message: WaitingMessage,
    setback: Setback,
    details: SetbackDetails,
  ): Promise<void> {
    const { id, createdAt } = message
    const noted = retries.note(message, setback, details)
    await statements.setbacks
      .add({ fence: lease, id, createdAt, setback, ...noted })
      .catch((error) => logger.warn({ err: error }, 'Storing a setback failed'))
  }

  async function keepForRetry(
    message: WaitingMessage,
    { setback, sentence }: Extract<AttemptResult, { kind: 'retry' }>,
    isBlamed: boolean,
  ): Promise<void> {
    if (!setback) return
    await noteSetback(message, setback, { isBlamed, ...(sentence && { sentence }) })
    if (!retries.isHopeless(message.id)) return
    await results.fail(message, 'message_ends_connection')
    retries.forget(message.id)
  }

  return {
    async conclude(turn, result, isBlamed) {
      const { message } = turn
      if (result.kind === 'retry') return keepForRetry(message, result, isBlamed)
      if (result.kind === 'paused') {
        // It is read again, immediately if it is for a known contact.
        waiting.requeue(message)
        waiting.mayHaveMore()
        pacer.release(message.waId)
        return
      }
      retries.forget(message.id)
      if (result.kind === 'acknowledged') acknowledge(turn)
      else if (result.kind === 'unclaimed') {
        waiting.skip(message)
        pacer.release(message.waId)
      } else {
        waiting.remove(message)
        pacer.confirm(message.waId)
      }
    },

    async noteFailed({ message }, work, error) {
      const leftMs = config.outbox.mediaRetryMs - retries.failingMs(message)
      if (isFilesFault(error) && leftMs <= 0) {
        await results.fail(message, error.code, error.message)
        retries.forget(message.id)
        return waiting.remove(message)
      }
      const setback = work === 'send' ? 'send_failed' : 'unprepared'
      void noteSetback(message, setback, detailsOf(error, leftMs))
      const { id: messageId, reference } = message
      logger.warn(
        { err: error, deviceId, messageId, ...(reference !== null && { reference }) },
        'Sending a message failed, will retry',
      )
    },

    acknowledgeLate(waId, outcome) {
      const message = waiting.list().find((known) => known.waId === waId && !hands.isAcknowledged(known))
      const recipient = message && recipientOf(message)
      if (!message || !recipient) return false
      const turn = { message, recipient }
      if (hands.workFor(laneOf(turn), message.priority) || !isBelievable(outcome, addressesOf(turn)))
        return false
      retries.forget(message.id)
      acknowledge(turn)
      return true
    },

    untilRecorded: () => Promise.allSettled(recordings),
  }
}

/** Not that of this machine, of the media store, of Postgres or of WhatsApp, which may take longer to be mended. */
function isFilesFault(error: unknown): error is MediaUnavailable {
  return error instanceof MediaUnavailable && error.isOfHost
}

/** `leftMs`: for how much longer a file may hold back what comes after it. */
function detailsOf(error: unknown, leftMs: number): SetbackDetails {
  if (!(error instanceof MediaUnavailable || error instanceof LookUpsPaused)) return {}
  const details = { sentence: error.message, leastMs: error.retryAfterMs ?? 0 }
  return isFilesFault(error) ? { ...details, mostMs: leftMs } : details
}

/**
 * What became of one attempt. `unclaimed`: canceled, or the shard has another owner. `paused`: it is for a new contact, and those are
 * paused. `retry`: to be sent again, under the same id; immediately without a setback.
 */
export type AttemptResult =
  | { kind: 'acknowledged' | 'failed' | 'unclaimed' | 'paused' }
  | { kind: 'retry'; setback?: Setback; sentence?: string }

/** Records how messages ended, and tells the requests that wait for it. */
export type MessageResults = {
  /** It can never be sent. */
  fail(message: WaitingMessage, code: MessageErrorCode, sentence?: string): Promise<void>
  /** WhatsApp took it. */
  recordSent(message: WaitingMessage): Promise<void>
}

export function makeMessageResults(
  { events, metrics }: Pick<OutboxContext, 'events' | 'metrics'>,
  { id: deviceId, recorder }: { id: number; recorder: Recorder },
): MessageResults {
  /** Whether a process had subscribed to the latest event of this device, probably for a request that waits. */
  let isAwaited = false

  async function announce(
    { id }: WaitingMessage,
    status: 'sent' | 'failed',
    isStored: boolean,
  ): Promise<void> {
    const event = { kind: 'message', messageId: id, status, ...(isStored && { isStored }) } as const
    isAwaited = (await events.publish(deviceId, event)) > 0
  }

  return {
    async fail(message, code, sentence) {
      await recorder.fail(message, code, sentence)
      metrics.failures.inc({ code })
      void announce(message, 'failed', false)
    },
    async recordSent(message) {
      const isStored = await recorder.recordSent(message, isAwaited)
      void announce(message, 'sent', isStored)
    },
  }
}

/**
 * Records the outcomes of a device's messages. Resolves when they are stored, or when another worker owns the device, to
 * whether this outcome is what is stored now: the message may have a later one.
 */
export type Recorder = {
  /** `isAwaited`: a request waits for it, so it is stored at once. Otherwise it may wait for others, which costs less. */
  recordSent(message: Row, isAwaited: boolean): Promise<boolean>
  fail(message: Row, code: MessageErrorCode, sentence?: string): Promise<boolean>
}

type Row = { id: string; createdAt: string; recipientJid?: string | null }

export function makeRecorder(
  {
    outcomes,
    publishEventHint,
    logger,
  }: Pick<OutboxContext, 'publishEventHint' | 'logger'> & Pick<OutboxContext['statements'], 'outcomes'>,
  device: { id: number; accountId: number; lease: Lease },
): Recorder {
  const { id: deviceId, accountId, lease } = device

  /** If an outcome is never stored, the next owner sends the message again, under the same id. */
  async function store(
    { id: messageId, createdAt, recipientJid = null }: Row,
    outcome: Pick<MessageOutcome, 'status' | 'error'>,
    isUrgent: boolean,
  ): Promise<boolean> {
    const at = new Date().toISOString()
    const given = { ...outcome, at, fence: lease, deviceId, messageId, createdAt, recipientJid }
    const result = await untilStored(
      () => (isUrgent ? outcomes.add(given) : outcomes.addDeferred(given)),
      lease,
      logger,
    )
    publishEventHint(accountId)
    return result === 'recorded'
  }

  return {
    recordSent: (message, isAwaited) => store(message, { status: 'sent' }, isAwaited),
    fail: (message, code, sentence = messageErrors[code]) =>
      store(message, { status: 'failed', error: { code, sentence } }, true),
  }
}
