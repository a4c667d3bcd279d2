import { AppError } from '@wagate/shared/app-error'

export type Deadline = {
  /** Aborted when the time is up: what has not begun by then must not begin. */
  readonly signal: AbortSignal
  /** Rejects with `unavailable` when the time is up. Only time spent in here counts. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  extend(moreMs: number): void
}

/** A client is answered in time whatever is down; its own slowness (an upload) is not counted. */
export function makeDeadline(budgetMs: number): Deadline {
  const controller = new AbortController()
  let leftMs = budgetMs
  let rearm: (() => void) | undefined

  return {
    signal: controller.signal,
    async run(work) {
      const startedAt = performance.now()
      let timer: NodeJS.Timeout | undefined
      const timeUp = new Promise<never>((_, reject) => {
        rearm = () => {
          clearTimeout(timer)
          timer = setTimeout(
            () => {
              controller.abort()
              reject(tooLate())
            },
            leftMs - (performance.now() - startedAt),
          )
        }
        rearm()
      })
      try {
        return await Promise.race([work(), timeUp])
      } finally {
        clearTimeout(timer)
        rearm = undefined
        leftMs -= performance.now() - startedAt
      }
    },
    extend(moreMs) {
      leftMs += moreMs
      rearm?.()
    },
  }
}

function tooLate(): AppError {
  return new AppError('unavailable', 'The gateway could not answer in time. Try again.', {
    retryAfterSeconds: 1,
  })
}
