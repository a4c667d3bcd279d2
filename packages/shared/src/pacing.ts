/** How fast a sender may send. 0 is unlimited, for `burst` it is not used. */
export type Pacing = {
  ratePerMinute: number
  /** How many messages may go in a burst after a pause. */
  burst: number
  /** Messages in a day of UTC. */
  dailyCap: number
  /** New contacts in a day of UTC, after the warm-up. */
  newContactsPerDay: number
}

/** null where the next default counts. */
export type GivenPacing = { [Setting in keyof Pacing]: number | null }

/** The given settings (of a device within those of its account), else the defaults. */
export function pacingOf(given: GivenPacing, defaults: Pacing): Pacing {
  return {
    ratePerMinute: given.ratePerMinute ?? defaults.ratePerMinute,
    burst: given.burst ?? defaults.burst,
    dailyCap: given.dailyCap ?? defaults.dailyCap,
    newContactsPerDay: given.newContactsPerDay ?? defaults.newContactsPerDay,
  }
}
