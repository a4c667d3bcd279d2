import type { Running } from '@wagate/shared/running'

export type Ticker = Running & {
  /** Runs now, or once more directly after the run that goes on. */
  wake(): void
}

type TickerOptions = {
  everyMs: number
  /** After a run that failed. */
  retryMs?: number
  /** May ask for an earlier next run. */
  run: () => Promise<{ againInMs: number } | undefined>
  onError: (error: unknown) => void
}

/** Runs at once and then again and again, never two runs at a time. `close` waits for the one that goes on. */
export function startTicker({ everyMs, retryMs = everyMs, run, onError }: TickerOptions): Ticker {
  let closed = false
  let awake = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  async function runOnce(): Promise<void> {
    awake = false
    let pauseMs = everyMs
    try {
      const next = await run()
      if (next) pauseMs = Math.min(pauseMs, Math.max(0, next.againInMs))
    } catch (error) {
      pauseMs = retryMs
      onError(error)
    }
    running = undefined
    if (!closed) timer = setTimeout(start, awake ? 0 : pauseMs)
  }

  function start(): void {
    clearTimeout(timer)
    running = runOnce()
  }

  start()
  return {
    wake() {
      awake = true
      if (!closed && !running) start()
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}
