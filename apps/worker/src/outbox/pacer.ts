/** A token bucket: `take` says how long to wait, 0 when a message may go now (and then counts it). */
export type Pacer = { take(nowMs: number): number }

/** `ratePerMinute` 0 is unlimited. Times are of a monotonic clock. */
export function makePacer({ ratePerMinute, burst }: Pacing, startMs: number): Pacer {
  if (ratePerMinute === 0) return { take: () => 0 }
  const msPerMessage = 60_000 / ratePerMinute
  let tokens = burst
  let countedAtMs = startMs
  return {
    take(nowMs) {
      tokens = Math.min(burst, tokens + (nowMs - countedAtMs) / msPerMessage)
      countedAtMs = nowMs
      if (tokens < 1) return Math.ceil((1 - tokens) * msPerMessage)
      tokens -= 1
      return 0
    },
  }
}

type Pacing = { ratePerMinute: number; burst: number }

/** The device's own settings, else those of the environment. */
export function pacingOf(
  device: { ratePerMinute: number | null; burst: number | null },
  config: { SEND_RATE_PER_MINUTE: number; SEND_BURST: number },
): Pacing {
  return {
    ratePerMinute: device.ratePerMinute ?? config.SEND_RATE_PER_MINUTE,
    burst: device.burst ?? config.SEND_BURST,
  }
}
