import type { Inbox } from './inbox.ts'

const pollEveryMs = 1000

type Options = {
  /** Every item causes a poll. */
  inbox: Pick<Inbox<unknown>, 'take' | 'close'>
  forMs: number
  abort: AbortSignal
  /** Pauses of further polls after an item, for what may become readable shortly after it. */
  againAfterMs?: readonly number[]
}

/**
 * Polls at once, at every item and every second, until `find` returns something. Undefined when the time is up
 * or `abort` is aborted. A lost event therefore costs at most a second.
 */
export async function pollUntil<Found>(
  find: () => Promise<Found | undefined>,
  { inbox, forMs, abort, againAfterMs = [] }: Options,
): Promise<Found | undefined> {
  const endsAt = performance.now() + forMs
  let pausesMs: readonly number[] = []
  abort.addEventListener('abort', inbox.close)
  try {
    while (!abort.aborted) {
      const found = await find()
      if (found !== undefined) return found
      const leftMs = endsAt - performance.now()
      if (leftMs <= 0) return undefined
      const [pauseMs = untilNextPollMs(), ...later] = pausesMs
      const item = await inbox.take(Math.min(leftMs, pauseMs))
      pausesMs = item === undefined ? later : againAfterMs
    }
    return undefined
  } finally {
    abort.removeEventListener('abort', inbox.close)
  }
}

/** All waits of this process poll at the same moments, so that they can share a statement. */
export function untilNextPollMs(): number {
  return pollEveryMs - (performance.now() % pollEveryMs)
}
