import type { MessageOutcome } from '@wagate/db/queries/messages/message-outcomes'
import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { type MessageErrorCode, messageErrors } from '@wagate/shared/message-errors'
import type { Setback } from '@wagate/shared/timeline-marks'
import type { Lease } from '../ownership/lease.ts'
import { untilStored } from '../statements/until-stored.ts'
import type { OutboxContext } from './outbox-context.ts'

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
