import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import { type AuthRows, type AuthStore, findCreds, makeAuthStore } from '../session/auth-store.ts'
import type { Vault } from '../session/vault.ts'

type DeviceAuth = {
  /** With the stored credentials; undefined when there are none. */
  load(): Promise<AuthStore | undefined>
  /** With fresh credentials, for a pairing. */
  make(): AuthStore
}

/** The credentials and keys of a device, written only while this worker owns it. */
export function makeDeviceAuth(
  context: Pick<DeviceContext, 'db' | 'caches' | 'authWrites' | 'onLost'>,
  { id, lease, vault }: { id: number; lease: Lease; vault: Vault },
): DeviceAuth {
  const source = () => ({ db: context.db, deviceId: id, vault, cache: context.caches.auth(), write })

  /** What this resolves for may leave the process: it is stored, and this worker was the owner after that. */
  async function write(rows: AuthRows): Promise<void> {
    const lost = await context.authWrites.add({ fence: lease, deviceId: id, rows })
    if (lost) {
      // Said here as well as thrown: Baileys swallows what goes wrong in an encryption.
      context.onLost(lease.shard)
      throw lost
    }
    // Not lost for certain: Postgres may have been away for as long as the lease. Then the lease goes on.
    if (!lease.isValid()) throw new Error('The lease could not be renewed in time')
  }

  return {
    async load() {
      const creds = await findCreds(context.db, id, vault)
      return creds && makeAuthStore(source(), creds)
    },
    make: () => makeAuthStore(source()),
  }
}
