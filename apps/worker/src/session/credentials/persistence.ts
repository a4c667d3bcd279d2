import { setTimeout as delay } from 'node:timers/promises'
import { databaseFailure } from '@wagate/db/failures'
import { growingPauseMs } from '@wagate/runtime/growing-pause'

/** The lease expired during a write. Either another owner exists, or Postgres was down for a whole lease. */
export class LeaseLapsed extends Error {
  constructor() {
    super('The lease could not be renewed in time')
    this.name = 'LeaseLapsed'
  }
}

/** Runs work on the database and retries it while the database is down. Rejects with every other failure. */
export type Persist = <Result>(work: () => Result | Promise<Result>) => Promise<Result>

const retryPause = { firstMs: 500, maxMs: 5000 }

/**
 * For work that must not be given up while a session lasts: WhatsApp delivers a stanza again only to a later session, so
 * the session keeps it unacknowledged until Postgres is back. `isOver` ends the retries with the last failure.
 */
export function makePersist(isOver: () => boolean, onFailure: (error: unknown) => void): Persist {
  return async (work) => {
    for (let failures = 1; ; failures++) {
      try {
        return await work()
      } catch (error) {
        const passes = error instanceof LeaseLapsed || databaseFailure(error) !== undefined
        if (!passes || isOver()) throw error
        onFailure(error)
        await delay(growingPauseMs(failures, retryPause))
        if (isOver()) throw error
      }
    }
  }
}
