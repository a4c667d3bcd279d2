const tickMs = 20

/**
 * Runs `work`, and returns how many ms of that this process was awake: a pause of the machine, or of the process, counts as
 * two ticks at most. For limits that the work keeps with timers.
 */
export async function timeAwake<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; awakeMs: number }> {
  let awakeMs = 0
  let lastMs = performance.now()
  const count = () => {
    const nowMs = performance.now()
    awakeMs += Math.min(nowMs - lastMs, 2 * tickMs)
    lastMs = nowMs
  }
  const ticks = setInterval(count, tickMs)
  try {
    const result = await work()
    count()
    return { result, awakeMs }
  } finally {
    clearInterval(ticks)
  }
}
