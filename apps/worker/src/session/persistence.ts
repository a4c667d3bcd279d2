import { setTimeout as delay } from 'node:timers/promises'
import { databaseFailure } from '@wagate/db/failures'

/** The lease ran out while something was stored. Another owner may exist, or Postgres was away for as long. */
export class LeaseLapsed extends Error {
  constructor() {
    super('The lease could not be renewed in time')
    this.name = 'LeaseLapsed'
  }
}

/** Runs work on the database, again and again while the database is away. Rejects with every other failure. */
export type Persist = <Result>(work: () => Result | Promise<Result>) => Promise<Result>

const retryMs = 500

/**
 * For what must not be given up while a session lasts: WhatsApp delivers a stanza again only to a later session, so
 * a session waits for Postgres with the stanza unacknowledged. `isOver` ends the waiting with the last failure.
 */
export function makePersist(isOver: () => boolean, onFailure: (error: unknown) => void): Persist {
  return async (work) => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        const passes = error instanceof LeaseLapsed || databaseFailure(error) !== undefined
        if (!passes || isOver()) throw error
        onFailure(error)
        await delay(retryMs)
        if (isOver()) throw error
      }
    }
  }
}
