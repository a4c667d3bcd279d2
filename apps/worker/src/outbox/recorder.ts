import type { MessageOutcome } from '@wagate/db/queries/message-outcomes'
import { messageIdOf } from '@wagate/shared/ids'
import { type MessageErrorCode, messageErrors } from '@wagate/shared/message-errors'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import type { Receipt } from '../session/receipts.ts'
import { untilStored } from '../until-stored.ts'

/**
 * Records the outcomes of a device's messages. Resolves when they are stored, or when another worker owns the device, to
 * whether this outcome is what is stored now: the message may have a later one.
 */
export type Recorder = {
  /** Pass the message if it is known: its row is then found even if the clock that made its id was wrong. */
  record(waId: string, status: 'sent' | Receipt['kind'], at: Date, message?: Row): Promise<boolean>
  fail(message: Row & { waId: string }, code: MessageErrorCode, sentence?: string): Promise<boolean>
}

type Row = { id: string; createdAt: string; recipientJid?: string | null }

export function makeRecorder(
  { outcomes, publishEventHint, logger }: Pick<DeviceContext, 'outcomes' | 'publishEventHint' | 'logger'>,
  device: { id: number; accountId: number; sender: string; lease: Lease },
): Recorder {
  const { id: deviceId, accountId, sender, lease } = device

  /** If an outcome is never stored, the next owner sends the message again, under the same id. */
  async function store(
    waId: string,
    outcome: Pick<MessageOutcome, 'status' | 'at' | 'error'>,
    row?: Row,
  ): Promise<boolean> {
    const messageId = row?.id ?? messageIdOf(waId, sender)
    if (!messageId) return false
    const given = {
      ...outcome,
      fence: lease,
      deviceId,
      messageId,
      ...(row && { createdAt: row.createdAt, recipientJid: row.recipientJid ?? null }),
    }
    const result = await untilStored(() => outcomes.add(given), lease, logger)
    publishEventHint(accountId)
    return result === 'recorded'
  }

  return {
    record: (waId, status, at, message) => store(waId, { status, at: at.toISOString() }, message),
    fail: (message, code, sentence = messageErrors[code]) =>
      store(
        message.waId,
        { status: 'failed', at: new Date().toISOString(), error: { code, sentence } },
        message,
      ),
  }
}
