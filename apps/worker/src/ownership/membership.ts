import { randomUUID } from 'node:crypto'
import type { Database } from '@wagate/db/client'
import { registerWorker, registerWorkerAgain, renewWorker } from '@wagate/db/queries/workers'
import type { Logger } from '@wagate/runtime/logger'

/** This process as the other workers know it. A dead one stays dead: the process goes on under a fresh id. */
export type Registration = {
  readonly workerId: string
  readonly isDead: boolean
  /** Renewed lately enough that nobody can have taken the shards, by this process's monotonic clock. */
  isValid(): boolean
}

export type MembershipOptions = {
  /** A pool of one connection that nothing else uses: a heartbeat must not wait for another query. */
  db: Database
  logger: Logger
  name: string
  capacity: number
  masterKeyId?: string
  leaseTtlMs: number
}

export type Membership = {
  current(): Registration | undefined
  /** Registers under a fresh id; the first time this ends an earlier process of the same name. */
  join(): Promise<Registration>
  /** Resolves to false when another worker marked this one dead. */
  renew(): Promise<boolean>
}

/** A silent worker whose process has exited is declared dead after this many heartbeats. */
export const silentHeartbeats = 1.5

/** Part of the TTL that is not used, for clocks that run at different speeds. */
const marginShare = 1 / 12

export function makeMembership(options: MembershipOptions): Membership {
  const { db, logger, name, capacity, masterKeyId = null, leaseTtlMs } = options
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
      const worker = { id: randomUUID(), name, capacity, masterKeyId, leaseTtlMs }
      const sentAtMs = performance.now()
      if (!current) {
        await registerWorker(db, worker)
      } else {
        const givenName = await registerWorkerAgain(db, worker)
        if (givenName !== name)
          logger.warn({ name, givenName }, 'Another worker has the same name: give each its WORKER_NAME')
      }
      logger.info({ workerId: worker.id }, 'The worker is registered')
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
