import type { Running } from '@wagate/runtime/running'

export type Ticker = Running & {
  /** Runs as soon as the last run allows, or once more after the one that goes on. */
  wake(): void
}

/** What a run says about the next one. */
export type NextRun = {
  /** Earlier than usual. */
  againInMs?: number
  /** Not sooner than this, also when it is woken. */
  restMs?: number
}

type TickerOptions = {
  everyMs: number
  /** After a run that failed. */
  retryMs?: number
  run: () => Promise<NextRun | undefined>
  onError: (error: unknown) => void
}

/** Runs at once and then again and again, never two runs at a time. `close` waits for the one that goes on. */
export function startTicker({ everyMs, retryMs = everyMs, run, onError }: TickerOptions): Ticker {
  let closed = false
  let awake = false
  let notBeforeMs = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  async function runOnce(): Promise<void> {
    awake = false
    let pauseMs = everyMs
    try {
      const { againInMs = everyMs, restMs = 0 } = (await run()) ?? {}
      notBeforeMs = performance.now() + restMs
      pauseMs = Math.min(pauseMs, againInMs)
    } catch (error) {
      pauseMs = retryMs
      onError(error)
    }
    running = undefined
    startIn(awake ? 0 : pauseMs)
  }

  function startIn(pauseMs: number): void {
    if (closed) return
    clearTimeout(timer)
    timer = setTimeout(start, Math.max(pauseMs, notBeforeMs - performance.now()))
  }

  function start(): void {
    running = runOnce()
  }

  start()
  return {
    wake() {
      awake = true
      if (!running) startIn(0)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}
