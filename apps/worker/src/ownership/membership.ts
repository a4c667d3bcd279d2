import { randomUUID } from 'node:crypto'
import type { Database } from '@wagate/db/client'
import type { SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import { registerWorker, registerWorkerAgain, renewWorker } from '@wagate/db/queries/workers/workers'
import type { Logger } from '@wagate/runtime/logger'

/** This process as the other workers know it. A dead registration stays dead, so the process continues under a new id. */
export type Registration = {
  readonly workerId: string
  readonly isDead: boolean
  /** Renewed recently enough that no other worker can own the shards, by the monotonic clock of this process. */
  isValid(): boolean
}

export type MembershipOptions = {
  /** A pool of one connection for heartbeats only: they must not wait for other queries. */
  db: Database
  logger: Logger
  name: string
  capacity: number
  masterKeyId?: string
  signalFormat?: SignalFormat
  leaseTtlMs: number
}

export type Membership = {
  current(): Registration | undefined
  /** Registers under a new id. The first registration marks an earlier process of the same name dead. */
  join(): Promise<Registration>
  /** Resolves to false when another worker marked this one dead. */
  renew(): Promise<boolean>
}

/** A silent worker whose process has exited is declared dead after this many heartbeats. */
export const silentHeartbeats = 1.5

/** Part of the TTL that is not used, for clocks that run at different speeds. */
const marginShare = 1 / 12

export function makeMembership(options: MembershipOptions): Membership {
  const { db, logger, name, capacity, masterKeyId = null, signalFormat = null, leaseTtlMs } = options
  const validMs = leaseTtlMs * (1 - marginShare)
  let current: (Registration & { isDead: boolean; validUntilMs: number }) | undefined

  function remember(workerId: string, sentAtMs: number): Registration {
    const registration = {
      workerId,
      isDead: false,
      validUntilMs: sentAtMs + validMs,
      isValid: () => !registration.isDead && performance.now() < registration.validUntilMs,
    }
    current = registration
    return registration
  }

  return {
    current: () => current,

    async join() {
      const worker = { id: randomUUID(), name, capacity, masterKeyId, signalFormat, leaseTtlMs }
      const sentAtMs = performance.now()
      if (!current) {
        await registerWorker(db, worker)
      } else {
        const givenName = await registerWorkerAgain(db, worker)
        if (givenName !== name)
          logger.warn(
            { name, givenName },
            'Another worker has the same name; set a different WORKER_NAME for each',
          )
      }
      logger.info({ workerId: worker.id }, 'Worker registered')
      return remember(worker.id, sentAtMs)
    },

    async renew() {
      const registration = current
      if (!registration || registration.isDead) return false
      const sentAtMs = performance.now()
      if (await renewWorker(db, registration.workerId, leaseTtlMs))
        registration.validUntilMs = sentAtMs + validMs
      else registration.isDead = true
      return !registration.isDead
    },
  }
}
