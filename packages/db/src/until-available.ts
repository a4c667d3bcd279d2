import { setTimeout as delay } from 'node:timers/promises'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import type { OutageLog } from '@wagate/runtime/outage-log'
import { isOutage } from './failures.ts'

const retryPause = { firstMs: 500, maxMs: 5000 }

/** Retries at start-up until Postgres is available. Throws permanent errors. */
export async function untilAvailable(attempt: () => Promise<void>, outage: OutageLog): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await attempt()
      return outage.worked()
    } catch (error) {
      if (!isOutage(error)) throw error
      outage.failed(error)
      await delay(growingPauseMs(failures, retryPause))
    }
  }
}
