import type { Database } from '@wagate/db/client'
import { setConnection } from '@wagate/db/queries/device-connection'
import type { Lease } from '../ownership/lease.ts'

type Change = Parameters<typeof setConnection>[3]

/** Writes what a device's status says about its connection. */
export type ConnectionStatus = { note(change: Change): Promise<void> }

/**
 * The writes follow one another: if "online" were stored after "offline", a connection that ended at once would be
 * shown as online for as long as the pause before the next login lasts.
 */
export function makeConnectionStatus(db: Database, lease: Lease, deviceId: number): ConnectionStatus {
  let lastWrite: Promise<void> = Promise.resolve()
  return {
    note(change) {
      const written = lastWrite.then(() => setConnection(db, lease, deviceId, change))
      lastWrite = written.catch(() => undefined)
      return written
    },
  }
}
