const [secondMs, minuteMs, hourMs] = [1000, 60_000, 3_600_000]

/** The pauses after the first failed attempt, the second and so on. After the last one, a delivery is not repeated. */
export const retryDelaysMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  10 * hourMs,
]

const spread = 0.1

type Failure = {
  /** That have failed, this one included. */
  attempts: number
  /** What the target has asked for. */
  retryAfterMs: number | undefined
}

/** Null when no attempt is left. `random`: from 0 to 1. Spreads attempts that failed together. */
export function nextDelayMs(
  delaysMs: readonly number[],
  { attempts, retryAfterMs = 0 }: Failure,
  random: number,
): number | null {
  const delayMs = delaysMs[attempts - 1]
  if (delayMs === undefined) return null
  return Math.round(Math.max(delayMs * (1 - spread + 2 * spread * random), retryAfterMs))
}
