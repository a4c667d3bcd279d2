import { setTimeout as delay } from 'node:timers/promises'
import { OwnershipLost } from '@wagate/db/queries/fence'
import type { Logger } from '@wagate/runtime/logger'
import type { Lease } from './ownership/lease.ts'

const retryMs = 500

/**
 * Holds on to something that WhatsApp tells only once while Postgres is away. Undefined when the device
 * belongs to another owner before it was stored.
 */
export async function untilStored<Result>(
  store: () => Promise<Result>,
  lease: Lease,
  logger: Logger,
): Promise<Result | undefined> {
  for (;;) {
    try {
      return await store()
    } catch (error) {
      if (error instanceof OwnershipLost) throw error
      logger.warn({ err: error }, 'Something could not be stored, trying again')
      await delay(retryMs)
      if (!lease.isValid()) return undefined
    }
  }
}
