import type { Signal } from './signal.ts'

const pollEveryMs = 1000

type Options = {
  signal: Signal
  forMs: number
  abort: AbortSignal
  /** Pauses of further polls after a notification, for what may become readable shortly after it. */
  againAfterMs?: readonly number[]
}

/**
 * Polls at once, at every notification and every second, until `find` returns something. Undefined when the time is up
 * or `abort` is aborted. A lost event therefore costs at most a second.
 */
export async function pollUntil<Found>(
  find: () => Promise<Found | undefined>,
  { signal, forMs, abort, againAfterMs = [] }: Options,
): Promise<Found | undefined> {
  const endsAt = performance.now() + forMs
  let pausesMs: readonly number[] = []
  while (!abort.aborted) {
    // Before the poll, so that a notification during the poll is not missed.
    const notified = signal.next()
    const found = await find()
    if (found !== undefined) return found
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) return undefined
    const [pauseMs = untilNextPollMs(), ...later] = pausesMs
    const isNotified = await waitFor(notified, Math.min(leftMs, pauseMs), abort)
    pausesMs = isNotified ? againAfterMs : later
  }
  return undefined
}

/** All waits of this process poll at the same moments, so that they can share a statement. */
export function untilNextPollMs(): number {
  return pollEveryMs - (performance.now() % pollEveryMs)
}

/** Whether a notification ended it. */
function waitFor(notified: Promise<void>, ms: number, abort: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isNotified: boolean) => {
      clearTimeout(timer)
      abort.removeEventListener('abort', stop)
      resolve(isNotified)
    }
    const stop = () => end(false)
    const timer = setTimeout(stop, ms)
    abort.addEventListener('abort', stop)
    void notified.then(() => end(true))
    if (abort.aborted) stop()
  })
}
