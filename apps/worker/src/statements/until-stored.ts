import { setTimeout as delay } from 'node:timers/promises'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import type { Logger } from '@wagate/runtime/logger'
import type { Lease } from '../ownership/lease.ts'

const retryPause = { firstMs: 500, maxMs: 5000 }

/**
 * Retries until it is stored, because WhatsApp will not repeat this event. Undefined when the device gets another owner
 * before that.
 */
export async function untilStored<Result>(
  store: () => Promise<Result>,
  lease: Lease,
  logger: Logger,
): Promise<Result | undefined> {
  for (let failures = 1; ; failures++) {
    try {
      return await store()
    } catch (error) {
      if (error instanceof OwnershipLost) throw error
      logger.warn({ err: error }, 'Storing an event of WhatsApp failed, will retry')
      await delay(growingPauseMs(failures, retryPause))
      if (!lease.isValid()) return undefined
    }
  }
}
