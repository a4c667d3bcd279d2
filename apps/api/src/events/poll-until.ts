import { setTimeout as delay } from 'node:timers/promises'

export type Nudge = {
  nudge(): void
  /** Resolves at the next nudge from now on. */
  next(): Promise<void>
}

export function makeNudge(): Nudge {
  let wake: () => void
  let coming: Promise<void>
  const renew = () => {
    coming = new Promise((resolve) => {
      wake = resolve
    })
  }
  renew()
  return {
    nudge() {
      wake()
      renew()
    },
    next: () => coming,
  }
}

const lookEveryMs = 1000

/**
 * Looks at once, at every nudge and every second, until something is found. Undefined when the time is up or
 * `signal` is aborted: an event that is lost only costs the second.
 */
export async function lookUntilFound<Found>(
  look: () => Promise<Found | undefined>,
  { nudge, forMs, signal }: { nudge: Nudge; forMs: number; signal: AbortSignal },
): Promise<Found | undefined> {
  const endsAt = performance.now() + forMs
  while (!signal.aborted) {
    // Taken before the look: what happens while it runs is not missed.
    const nudged = nudge.next()
    const found = await look()
    if (found !== undefined) return found
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) return undefined
    await waitFor(nudged, Math.min(leftMs, untilNextLookMs()), signal)
  }
  return undefined
}

/** All who wait in this process look at the same moments, so that they can share a statement. */
function untilNextLookMs(): number {
  return lookEveryMs - (performance.now() % lookEveryMs)
}

async function waitFor(nudged: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const woken = new AbortController()
  const pause = delay(ms, undefined, { signal: AbortSignal.any([signal, woken.signal]) })
  await Promise.race([nudged, pause.catch(() => undefined)])
  woken.abort()
}
