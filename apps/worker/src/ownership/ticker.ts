import type { Running } from '@wagate/runtime/running'

export type Ticker = Running & {
  /** Runs as soon as the last run allows, or once more after the current one. */
  wake(): void
}

/** What a run says about the next one. */
export type NextRun = {
  /** Earlier than usual. */
  nextInMs?: number
  /** Not sooner than this, even when it is woken. */
  restMs?: number
}

type TickerOptions = {
  everyMs: number
  /** After a run that failed. */
  retryMs?: number
  run: () => Promise<NextRun | undefined>
  onError: (error: unknown) => void
}

/** Runs at once and then periodically, one run at a time. `close` waits for the current run. */
export function startTicker({ everyMs, retryMs = everyMs, run, onError }: TickerOptions): Ticker {
  let isClosed = false
  let isWoken = false
  let notBeforeMs = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  async function runOnce(): Promise<void> {
    isWoken = false
    let pauseMs = everyMs
    try {
      const { nextInMs = everyMs, restMs = 0 } = (await run()) ?? {}
      notBeforeMs = performance.now() + restMs
      pauseMs = Math.min(pauseMs, nextInMs)
    } catch (error) {
      pauseMs = retryMs
      onError(error)
    }
    running = undefined
    startIn(isWoken ? 0 : pauseMs)
  }

  function startIn(pauseMs: number): void {
    if (isClosed) return
    clearTimeout(timer)
    timer = setTimeout(start, Math.max(pauseMs, notBeforeMs - performance.now()))
  }

  function start(): void {
    running = runOnce()
  }

  start()
  return {
    wake() {
      isWoken = true
      if (!running) startIn(0)
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}
