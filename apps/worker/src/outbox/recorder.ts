import type { MessageOutcome } from '@wagate/db/queries/outbox'
import { type MessageErrorCode, messageErrors } from '@wagate/shared/error-codes'
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
  lease: Lease,
  deviceId: number,
): Recorder {
  /** What is not stored in the end, the next owner learns anew: it sends the message again, under the same id. */
  async function store(outcome: Omit<MessageOutcome, 'fence' | 'deviceId'>): Promise<void> {
    await untilStored(() => outcomes.add({ ...outcome, fence: lease, deviceId }), lease, logger)
  }

  return {
    record: (waId, status, at) => store({ waId, status, at: at.toISOString() }),
    fail: (waId, code, sentence = messageErrors[code]) =>
      store({ waId, status: 'failed', at: new Date().toISOString(), error: { code, sentence } }),
  }
}
