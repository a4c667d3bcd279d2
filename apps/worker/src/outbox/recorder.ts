import type { MessageOutcome } from '@wagate/db/queries/messages/message-outcomes'
import { type MessageErrorCode, messageErrors } from '@wagate/shared/message-errors'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import { untilStored } from '../until-stored.ts'

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
  { outcomes, publishEventHint, logger }: Pick<DeviceContext, 'outcomes' | 'publishEventHint' | 'logger'>,
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
