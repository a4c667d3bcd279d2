import { OwnershipLost } from '@wagate/db/queries/fence'
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
    if (lost) context.onLost(lease.shard)
    if (lost || !lease.isValid()) throw lost ?? new OwnershipLost(lease.shard)
  }

  return {
    async load() {
      const creds = await findCreds(context.db, id, vault)
      return creds && makeAuthStore(source(), creds)
    },
    make: () => makeAuthStore(source()),
  }
}
