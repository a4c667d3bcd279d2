import { AppError } from '@wagate/shared/app-error'

export type Deadline = {
  /** The caller has been answered that it took too long: what has not begun must not begin. */
  readonly isOver: boolean
  /** Aborted when it is over. */
  readonly signal: AbortSignal
  /** Rejects with `unavailable` when the time is up. Only time spent in here counts. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  extend(moreMs: number): void
  /** Resolves when nothing of what was run still goes on, also of what had no time left. */
  idle(): Promise<void>
  /** The caller has been answered. */
  end(): void
}

/**
 * A client is answered in time whatever is down; its own slowness (an upload) is not counted. Every request has
 * one, and hardly any needs it: one timer serves all its runs, and the signal is made when it is asked for.
 */
export function makeDeadline(budgetMs: number): Deadline {
  let leftMs = budgetMs
  let runningSince: number | undefined
  let giveUp: ((reason: AppError) => void) | undefined
  let timer: NodeJS.Timeout | undefined
  let reason: AppError | undefined
  let controller: AbortController | undefined
  let unfinished = 0
  let onIdle: (() => void)[] = []

  /** The timer counts what runs and what does not: it may come too early, never too late. */
  function look(): void {
    timer = undefined
    if (runningSince === undefined) return
    const restMs = leftMs - (performance.now() - runningSince)
    if (restMs > 0) {
      timer = setTimeout(look, restMs)
      return
    }
    reason = tooLate()
    controller?.abort(reason)
    giveUp?.(reason)
  }

  function finish(startedAt: number): void {
    leftMs -= performance.now() - startedAt
    runningSince = undefined
    unfinished -= 1
    if (unfinished > 0) return
    for (const resolve of onIdle) resolve()
    onIdle = []
  }

  return {
    get isOver() {
      return reason !== undefined
    },
    get signal() {
      controller ??= new AbortController()
      if (reason) controller.abort(reason)
      return controller.signal
    },
    run(work) {
      if (reason) return Promise.reject(reason)
      return new Promise((resolve, reject) => {
        const startedAt = performance.now()
        const working = work()
        runningSince = startedAt
        unfinished += 1
        giveUp = reject
        timer ??= setTimeout(look, leftMs)
        working.then(
          (result) => {
            finish(startedAt)
            resolve(result)
          },
          (error) => {
            finish(startedAt)
            reject(error)
          },
        )
      })
    },
    extend(moreMs) {
      leftMs += moreMs
    },
    idle: () =>
      new Promise((resolve) => {
        if (unfinished === 0) resolve()
        else onIdle.push(resolve)
      }),
    end: () => clearTimeout(timer),
  }
}

export function tooLate(): AppError {
  return new AppError('unavailable', 'The gateway could not answer in time. Try again.', {
    retryAfterSeconds: 1,
  })
}
