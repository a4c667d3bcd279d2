import type { Logger } from '@wagate/runtime/logger'
import { within } from '@wagate/runtime/within'

/** When Postgres does not answer, each step of the hand-over takes this long. */
export const stepMsMax = 2000

/** False when the work fails, takes too long or resolves to false. What is not written then ends with the lease. */
export type Attempt = (step: string, work: Promise<unknown>) => Promise<boolean>

export function makeAttempt(logger: Logger): Attempt {
  return async (step, work) => {
    const failed = (error?: unknown) => {
      logger.warn({ err: error, step }, 'A step of the hand-over failed')
      return false
    }
    const outcome = work.then((answer) => answer !== false, failed)
    return (await within(stepMsMax, outcome)) ?? failed()
  }
}
