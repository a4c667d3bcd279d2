import type { MessageOutcome } from '@wagate/db/queries/outbox'
import { type MessageErrorCode, messageErrors } from '@wagate/shared/error-codes'
import { messageIdOf } from '@wagate/shared/ids'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import { untilStored } from '../until-stored.ts'

/** Writes what became of a device's messages. Resolves when it is stored, or another worker owns the device. */
export type Recorder = {
  record(waId: string, status: 'sent' | 'delivered' | 'read', at: Date): Promise<void>
  fail(waId: string, code: MessageErrorCode, sentence?: string): Promise<void>
}

export function makeRecorder(
  { outcomes, logger }: Pick<DeviceContext, 'outcomes' | 'logger'>,
  { id: deviceId, sender, lease }: { id: number; sender: string; lease: Lease },
): Recorder {
  /** What is not stored in the end, the next owner learns anew: it sends the message again, under the same id. */
  async function store(
    waId: string,
    outcome: Pick<MessageOutcome, 'status' | 'at' | 'error'>,
  ): Promise<void> {
    const messageId = messageIdOf(waId, sender)
    if (!messageId) return
    await untilStored(() => outcomes.add({ ...outcome, fence: lease, deviceId, messageId }), lease, logger)
  }

  return {
    record: (waId, status, at) => store(waId, { status, at: at.toISOString() }),
    fail: (waId, code, sentence = messageErrors[code]) =>
      store(waId, { status: 'failed', at: new Date().toISOString(), error: { code, sentence } }),
  }
}
