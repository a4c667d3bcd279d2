const minuteMs = 60_000
const pausesMs = [5000, 30_000, 2 * minuteMs, 10 * minuteMs, 60 * minuteMs, 6 * 60 * minuteMs]

/** The pause after an attempt that failed. Undefined after the last one. `failed`: how many had failed before it. */
export function pauseAfterMs(failed: number): number | undefined {
  return pausesMs[failed]
}
