import { AppError } from '../errors/app-error.ts'

/**
 * Bounds the time until a request is answered, also during outages. Only time inside `run` counts, so a slow upload does
 * not. Every request has a deadline and few reach it, so all runs share one timer and the signal is created on demand.
 */
export class Deadline {
  #leftMs: number
  #runningSince: number | undefined
  #giveUp: ((reason: AppError) => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #reason: AppError | undefined
  #controller: AbortController | undefined
  #unfinished = 0
  readonly #onIdle: (() => void)[] = []

  constructor(budgetMs: number) {
    this.#leftMs = budgetMs
  }

  /** The caller has got a timeout response: work that has not begun must not begin. */
  get isOver(): boolean {
    return this.#reason !== undefined
  }

  /** Aborted when the deadline is over. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** Rejects with `unavailable` when the time is up. One run at a time: only the latest one would be rejected. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#leftMs <= 0) this.#expire()
    if (this.#reason) return Promise.reject(this.#reason)
    return new Promise((resolve, reject) => {
      const startedAt = performance.now()
      const working = work()
      this.#runningSince = startedAt
      this.#unfinished += 1
      this.#giveUp = reject
      this.#timer ??= setTimeout(() => this.#check(), this.#leftMs)
      working.then(
        (result) => {
          this.#finish(startedAt)
          resolve(result)
        },
        (error) => {
          this.#finish(startedAt)
          reject(error)
        },
      )
    })
  }

  /** Time of this work does not count, as that of an upload. Inside of `run`. */
  async outside<Result>(work: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now()
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      return await work()
    } finally {
      this.extend(performance.now() - startedAt)
      this.#check()
    }
  }

  extend(moreMs: number): void {
    this.#leftMs += moreMs
  }

  /** Resolves when all work given to `run` has finished, including work that ran out of time. */
  idle(): Promise<void> {
    if (this.#unfinished === 0) return Promise.resolve()
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  /** To be called once the caller has been answered. */
  end(): void {
    clearTimeout(this.#timer)
  }

  /** The timer also counts time between runs, so it may fire too early, but never too late. */
  #check(): void {
    this.#timer = undefined
    const since = this.#runningSince
    if (since === undefined) return
    const restMs = this.#leftMs - (performance.now() - since)
    if (restMs > 0) {
      this.#timer = setTimeout(() => this.#check(), restMs)
      return
    }
    // After a pause of the process, timers run before the answers that arrived meanwhile are read.
    setImmediate(() => {
      if (this.#runningSince === since) this.#expire()
    })
  }

  #expire(): void {
    this.#reason ??= tooLate()
    this.#controller?.abort(this.#reason)
    this.#giveUp?.(this.#reason)
  }

  #finish(startedAt: number): void {
    this.#leftMs -= performance.now() - startedAt
    this.#runningSince = undefined
    this.#unfinished -= 1
    if (this.#unfinished > 0) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}

export function tooLate(): AppError {
  return new AppError('unavailable', 'The request timed out. Try again.', {
    retryAfterSeconds: 1,
  })
}
