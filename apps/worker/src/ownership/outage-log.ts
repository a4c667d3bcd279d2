import type { Logger } from '@wagate/shared/logger'

export type OutageLog = { failed(error: unknown): void; worked(): void }

/** One line when it begins and one when it ends, not one for every attempt. */
export function makeOutageLog(logger: Logger, what: string): OutageLog {
  let failures = 0
  return {
    failed(error) {
      failures += 1
      if (failures === 1) logger.warn({ err: error, what }, 'Fails and is tried again')
    },
    worked() {
      if (failures > 0) logger.info({ what, failures }, 'Works again')
      failures = 0
    },
  }
}
