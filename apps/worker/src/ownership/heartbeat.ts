import type { Logger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import type { Membership } from './membership.ts'
import type { OwnedShards } from './owned-shards.ts'
import { startTicker } from './ticker.ts'

type HeartbeatOptions = {
  logger: Logger
  membership: Membership
  owned: OwnedShards
  heartbeatMs: number
  onDead: () => void
}

/** After a failed heartbeat, which must not wait for a whole period: the lease is running out. */
const retryMsMax = 500

/** Renews the lease of this worker, and loses all its shards when another worker has marked it dead. */
export function startHeartbeat(options: HeartbeatOptions): Running {
  const { logger, membership, owned, heartbeatMs, onDead } = options
  const outage = makeOutageLog(logger, 'heartbeat')
  return startTicker({
    everyMs: heartbeatMs,
    retryMs: Math.min(heartbeatMs, retryMsMax),
    onError: outage.failed,
    async run() {
      const registration = membership.current()
      if (!registration || registration.isDead) return undefined
      if (!(await membership.renew())) {
        logger.warn({ workerId: registration.workerId }, 'Marked dead by another worker; stopping all shards')
        owned.loseAll()
        onDead()
        // Not left to the ticker, which may be waiting for the database.
        await owned.stopLost()
      }
      outage.worked()
      return undefined
    },
  })
}
