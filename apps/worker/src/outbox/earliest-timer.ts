import { setTimeout as delay } from 'node:timers/promises'

/**
 * Runs `run` at the earliest of the requested times. What wakes a paced outbox again and again does not leave a timer
 * each time.
 */
export function makeEarliestTimer(run: () => void, signal: AbortSignal): (ms: number) => void {
  let dueAtMs = Number.POSITIVE_INFINITY
  return (ms) => {
    const atMs = performance.now() + ms
    if (atMs >= dueAtMs) return
    dueAtMs = atMs
    delay(ms, undefined, { signal }).then(
      () => {
        dueAtMs = Number.POSITIVE_INFINITY
        run()
      },
      () => undefined,
    )
  }
}
