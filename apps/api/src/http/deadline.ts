import { AppError } from '@wagate/shared/app-error'

export type Deadline = {
  /** Aborted when the time is up: what has not begun by then must not begin. */
  readonly signal: AbortSignal
  /** Rejects with `unavailable` when the time is up. Only time spent in here counts. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  extend(moreMs: number): void
  /** Resolves when nothing of what was run still goes on, also of what had no time left. */
  idle(): Promise<void>
}

/** A client is answered in time whatever is down; its own slowness (an upload) is not counted. */
export function makeDeadline(budgetMs: number): Deadline {
  const controller = new AbortController()
  let leftMs = budgetMs
  let rearm: (() => void) | undefined
  const working = new Set<Promise<unknown>>()

  function note<Result>(work: Promise<Result>): Promise<Result> {
    working.add(work)
    const forget = () => working.delete(work)
    work.then(forget, forget)
    return work
  }

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
              const error = tooLate()
              controller.abort(error)
              reject(error)
            },
            leftMs - (performance.now() - startedAt),
          )
        }
        rearm()
      })
      try {
        return await Promise.race([note(work()), timeUp])
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
    async idle() {
      await Promise.allSettled(working)
    },
  }
}

function tooLate(): AppError {
  return new AppError('unavailable', 'The gateway could not answer in time. Try again.', {
    retryAfterSeconds: 1,
  })
}
