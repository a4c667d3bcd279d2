import type { Logger } from './logger.ts'

export type OutageLog = { failed(error: unknown): void; worked(): void }

const quietMs = 60_000

/** One line when an outage begins, one a minute while it lasts and one when it ends, not one for every attempt. */
export function makeOutageLog(logger: Logger, what: string): OutageLog {
  let failures = 0
  let quietUntilMs = 0
  return {
    failed(error) {
      failures += 1
      if (performance.now() < quietUntilMs) return
      quietUntilMs = performance.now() + quietMs
      logger.warn({ err: error, what, failures }, 'Fails and is tried again')
    },
    worked() {
      if (failures > 0) logger.info({ what, failures }, 'Works again')
      failures = 0
      quietUntilMs = 0
    },
  }
}
