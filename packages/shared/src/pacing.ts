/** How fast a sender may send. 0 is unlimited, for `burst` it is not used. */
export type Pacing = {
  ratePerMinute: number
  /** How many messages may go at once after a pause. */
  burst: number
  /** Messages in a day of UTC. */
  dailyCap: number
}

type Given = { [Setting in keyof Pacing]: number | null }
type Defaults = { SEND_RATE_PER_MINUTE: number; SEND_BURST: number; SEND_DAILY_CAP: number }

/** The device's own settings, else those of the environment. */
export function pacingOf(device: Given, defaults: Defaults): Pacing {
  return {
    ratePerMinute: device.ratePerMinute ?? defaults.SEND_RATE_PER_MINUTE,
    burst: device.burst ?? defaults.SEND_BURST,
    dailyCap: device.dailyCap ?? defaults.SEND_DAILY_CAP,
  }
}
