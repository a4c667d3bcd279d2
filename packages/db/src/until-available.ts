import { setTimeout as delay } from 'node:timers/promises'
import type { OutageLog } from '@wagate/runtime/outage-log'
import { databaseFailure } from './failures.ts'

const retryMs = 1000

/** Asks until Postgres answers, for a process that starts. Throws what does not pass by itself. */
export async function untilAvailable(ask: () => Promise<void>, outage: OutageLog): Promise<void> {
  for (;;) {
    try {
      await ask()
      return outage.worked()
    } catch (error) {
      if (databaseFailure(error) !== 'unavailable') throw error
      outage.failed(error)
      await delay(retryMs)
    }
  }
}
