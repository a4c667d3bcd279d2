import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { Setback } from '@wagate/shared/timeline-marks'
import { MediaUnavailable } from '../media/media-error.ts'
import { isBelievable, type Outcome } from '../session/sending/outcomes.ts'
import type { Hands, Work } from './message-hands.ts'
import type { AttemptResult, MessageResults } from './message-results.ts'
import type { OutboxContext, OutboxDevice } from './outbox-context.ts'
import type { Turn } from './recipient-lanes.ts'
import { LookUpsPaused } from './recipient-sessions.ts'
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
  /** Its work threw. */
  noteFailed(turn: Turn, work: Work, error: unknown): void
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
  { statements, logger }: Pick<OutboxContext, 'statements' | 'logger'>,
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
    { id, createdAt }: WaitingMessage,
    setback: Setback,
    details: SetbackDetails,
  ): Promise<void> {
    const sentence = retries.note(id, setback, details)
    await statements.setbacks
      .add({ fence: lease, id, createdAt, setback, sentence })
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

    noteFailed({ message }, work, error) {
      const setback = work === 'send' ? 'send_failed' : 'unprepared'
      void noteSetback(message, setback, detailsOf(error))
      logger.warn({ err: error, deviceId, messageId: message.id }, 'Sending a message failed, will retry')
    },

    acknowledgeLate(waId, outcome) {
      const message = waiting.list().find((known) => known.waId === waId && !hands.isAcknowledged(known))
      const recipient = message && recipientOf(message)
      if (!message || !recipient || hands.workFor(recipient) || !isBelievable(outcome, recipient))
        return false
      retries.forget(message.id)
      acknowledge({ message, recipient })
      return true
    },

    untilRecorded: () => Promise.allSettled(recordings),
  }
}

function detailsOf(error: unknown): SetbackDetails {
  if (!(error instanceof MediaUnavailable || error instanceof LookUpsPaused)) return {}
  return { sentence: error.message, leastMs: error.retryAfterMs ?? 0 }
}
