import { setTimeout as delay } from 'node:timers/promises'
import type { OutageLog } from '@wagate/runtime/outage-log'
import { isOutage } from './failures.ts'

const retryMs = 1000

/** Retries at start-up until Postgres is available. Throws permanent errors. */
export async function untilAvailable(attempt: () => Promise<void>, outage: OutageLog): Promise<void> {
  for (;;) {
    try {
      await attempt()
      return outage.worked()
    } catch (error) {
      if (!isOutage(error)) throw error
      outage.failed(error)
      await delay(retryMs)
    }
  }
}
