import { setTimeout as delay } from 'node:timers/promises'
import type { MessageOutcome } from '@wagate/db/queries/outbox'
import { type MessageErrorCode, messageErrors } from '@wagate/shared/error-codes'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'

export type Recorder = {
  /** Resolves when it is stored, or when this worker no longer owns the device. */
  record(waId: string, status: 'sent' | 'delivered' | 'read', at: Date): Promise<void>
  fail(waId: string, code: MessageErrorCode, sentence?: string): Promise<void>
}

const retryMs = 500

/** Writes what became of a device's messages; while Postgres is away it holds on to it. */
export function makeRecorder(
  { outcomes, logger }: Pick<DeviceContext, 'outcomes' | 'logger'>,
  lease: Lease,
  deviceId: number,
): Recorder {
  async function store(outcome: MessageOutcome): Promise<void> {
    for (;;) {
      try {
        return await outcomes.add(outcome)
      } catch (error) {
        logger.warn({ err: error, deviceId }, 'The outcome of a message could not be stored, trying again')
        await delay(retryMs)
        // The next owner sends it again, under the same id, and learns the outcome anew.
        if (!lease.isValid()) return
      }
    }
  }

  return {
    record: (waId, status, at) => store({ fence: lease, deviceId, waId, status, at: at.toISOString() }),
    fail: (waId, code, sentence = messageErrors[code]) =>
      store({
        fence: lease,
        deviceId,
        waId,
        status: 'failed',
        at: new Date().toISOString(),
        error: { code, sentence },
      }),
  }
}
