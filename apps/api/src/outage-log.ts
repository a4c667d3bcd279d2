import type { Logger } from '@wagate/shared/logger'

const quietMs = 10_000

/** Reports what happens hundreds of times a second in an outage at most every 10 s, with the number of times. */
export function makeOutageLog(log: Logger, sentence: string): (error: unknown) => void {
  let quietUntil = 0
  let times = 0
  return (err) => {
    times++
    const now = performance.now()
    if (now < quietUntil) return
    log.warn({ err, times }, sentence)
    quietUntil = now + quietMs
    times = 0
  }
}
