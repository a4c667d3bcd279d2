import type { Database } from '@wagate/db/client'
import { type ConnectionChange, setConnection } from '@wagate/db/queries/devices/device-connection'
import type { Logger } from '@wagate/runtime/logger'
import type { Lease } from '../ownership/lease.ts'
import { untilStored } from '../statements/until-stored.ts'

/** Writes what a device's status says about its connection. */
export type ConnectionStatus = { note(change: ConnectionChange): Promise<void> }

/**
 * The writes follow one another: if "online" were stored after "offline", a connection that ended at once would be
 * shown as online for as long as the pause before the next login lasts.
 */
export function makeConnectionStatus(
  db: Database,
  lease: Lease,
  deviceId: number,
  logger: Logger,
): ConnectionStatus {
  let lastWrite: Promise<void> = Promise.resolve()

  /** A block that is not stored would be unknown to the next owner. */
  function write(change: ConnectionChange): Promise<void> {
    const store = () => setConnection(db, lease, deviceId, change)
    return change.block ? untilStored(store, lease, logger) : store()
  }

  return {
    note(change) {
      const written = lastWrite.then(() => write(change))
      lastWrite = written.catch(() => undefined)
      return written
    },
  }
}
