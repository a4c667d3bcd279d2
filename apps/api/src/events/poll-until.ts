import { setTimeout as delay } from 'node:timers/promises'
import type { Signal } from './signal.ts'

const pollEveryMs = 1000

/**
 * Polls at once, at every notification and every second, until `find` returns something. Undefined when the time is up
 * or `abort` is aborted. A lost event therefore costs at most a second.
 */
export async function pollUntil<Found>(
  find: () => Promise<Found | undefined>,
  { signal, forMs, abort }: { signal: Signal; forMs: number; abort: AbortSignal },
): Promise<Found | undefined> {
  const endsAt = performance.now() + forMs
  while (!abort.aborted) {
    // Before the poll, so that a notification during the poll is not missed.
    const notified = signal.next()
    const found = await find()
    if (found !== undefined) return found
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) return undefined
    await waitFor(notified, Math.min(leftMs, untilNextPollMs()), abort)
  }
  return undefined
}

/** All waits of this process poll at the same moments, so that they can share a statement. */
function untilNextPollMs(): number {
  return pollEveryMs - (performance.now() % pollEveryMs)
}

async function waitFor(notified: Promise<void>, ms: number, abort: AbortSignal): Promise<void> {
  const woken = new AbortController()
  const pause = delay(ms, undefined, { signal: AbortSignal.any([abort, woken.signal]) })
  await Promise.race([notified, pause.catch(() => undefined)])
  woken.abort()
}
