/** The work has not ended within its time. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
  constructor() {
    super('The deadline has passed')
  }
}

export type Deadline = {
  /** Aborted with DeadlineExceeded, or with the reason of the outer signal. */
  signal: AbortSignal
  /** Settles at the deadline whatever becomes of `work`. What that resolves to later is discarded. */
  bound<Result>(work: Promise<Result>, discard: (late: Result) => void): Promise<Result>
  /** From then on, nothing is aborted. */
  release(): void
}

export function startDeadline(limitMs: number, outer?: AbortSignal | null): Deadline {
  const ending = new AbortController()
  const { signal } = ending
  const timer = setTimeout(() => ending.abort(new DeadlineExceeded()), limitMs)
  const end = () => ending.abort(outer?.reason)
  if (outer?.aborted) end()
  else outer?.addEventListener('abort', end, { once: true })

  return {
    signal,
    async bound(work, discard) {
      let giveUp = () => {}
      const given = new Promise<never>((_, reject) => {
        giveUp = () => reject(signal.reason)
        if (signal.aborted) giveUp()
        else signal.addEventListener('abort', giveUp, { once: true })
      })
      try {
        return await Promise.race([given, work])
      } catch (error) {
        work.then(discard, () => undefined)
        throw error
      } finally {
        signal.removeEventListener('abort', giveUp)
      }
    },
    release() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', end)
    },
  }
}
