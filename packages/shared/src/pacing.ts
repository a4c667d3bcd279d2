/** How fast a sender may send. 0 is unlimited, for `burst` it is not used. */
export type Pacing = {
  ratePerMinute: number
  /** How many messages may go at once after a pause. */
  burst: number
  /** Messages in a day of UTC. */
  dailyCap: number
}

/** null where the next default counts. */
export type GivenPacing = { [Setting in keyof Pacing]: number | null }
type Defaults = { SEND_RATE_PER_MINUTE: number; SEND_BURST: number; SEND_DAILY_CAP: number }

/** The given settings (of a device within those of its account), else those of the environment. */
export function pacingOf(given: GivenPacing, defaults: Defaults): Pacing {
  return {
    ratePerMinute: given.ratePerMinute ?? defaults.SEND_RATE_PER_MINUTE,
    burst: given.burst ?? defaults.SEND_BURST,
    dailyCap: given.dailyCap ?? defaults.SEND_DAILY_CAP,
  }
}
