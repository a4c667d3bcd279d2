import { AppError } from '../errors/app-error.ts'

/**
 * A client is answered in time whatever is down; its own slowness (an upload) is not counted. Every request has
 * one, and hardly any needs it: one timer serves all its runs, and the signal is made when it is asked for.
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

  /** The caller has been answered that it took too long: what has not begun must not begin. */
  get isOver(): boolean {
    return this.#reason !== undefined
  }

  /** Aborted when it is over. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** Rejects with `unavailable` when the time is up. Only time spent in here counts. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#reason) return Promise.reject(this.#reason)
    return new Promise((resolve, reject) => {
      const startedAt = performance.now()
      const working = work()
      this.#runningSince = startedAt
      this.#unfinished += 1
      this.#giveUp = reject
      this.#timer ??= setTimeout(() => this.#look(), this.#leftMs)
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

  extend(moreMs: number): void {
    this.#leftMs += moreMs
  }

  /** Resolves when nothing of what was run still goes on, also of what had no time left. */
  idle(): Promise<void> {
    if (this.#unfinished === 0) return Promise.resolve()
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  /** The caller has been answered. */
  end(): void {
    clearTimeout(this.#timer)
  }

  /** The timer counts what runs and what does not: it may come too early, never too late. */
  #look(): void {
    this.#timer = undefined
    if (this.#runningSince === undefined) return
    const restMs = this.#leftMs - (performance.now() - this.#runningSince)
    if (restMs > 0) {
      this.#timer = setTimeout(() => this.#look(), restMs)
      return
    }
    this.#reason = tooLate()
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
  return new AppError('unavailable', 'The gateway could not answer in time. Try again.', {
    retryAfterSeconds: 1,
  })
}
