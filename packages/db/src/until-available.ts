import { setTimeout as delay } from 'node:timers/promises'
import { databaseFailure } from './failures.ts'

const retryMs = 1000

/** Asks until Postgres answers, for a process that starts. Throws what does not pass by itself. */
export async function untilAvailable<Result>(
  ask: () => Promise<Result>,
  outage: { failed(error: unknown): void; worked(): void },
): Promise<Result> {
  for (;;) {
    try {
      const result = await ask()
      outage.worked()
      return result
    } catch (error) {
      if (databaseFailure(error) !== 'unavailable') throw error
      outage.failed(error)
      await delay(retryMs)
    }
  }
}
