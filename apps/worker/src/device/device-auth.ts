import type { Lease } from '../ownership/lease.ts'
import type { AuthenticationCreds } from '../session/connection/socket.ts'
import { type DeviceContacts, noteNumbers } from '../session/contacts/device-contacts.ts'
import { type AuthRows, type AuthStore, findCreds, makeAuthStore } from '../session/credentials/auth-store.ts'
import { LeaseLapsed } from '../session/credentials/persistence.ts'
import type { Vault } from '../session/credentials/vault.ts'
import type { DeviceContext } from './device-context.ts'

type AuthContext = Pick<DeviceContext, 'signalFormat' | 'onLost'> & {
  caches: Pick<DeviceContext['caches'], 'auth'>
  statements: Pick<DeviceContext['statements'], 'authReads' | 'authWrites'>
}

export type DeviceAuth = {
  /** Returns a store with the stored credentials; undefined when there are none. */
  load(): Promise<AuthStore | undefined>
  /** Returns a store with fresh credentials, for a pairing. */
  make(): AuthStore
  /**
   * Call before the credentials are wiped: from now on nothing is written for the stores handed out so far.
   * Resolves when none of their writes is under way.
   */
  retire(): Promise<void>
}

/** The writes of the stores that were handed out between two retirements. */
type Writing = { isRetired: boolean; underway: Set<Promise<unknown>> }

type Owned = { id: number; lease: Lease; vault: Vault; contacts: Pick<DeviceContacts, 'note'> }

/** The credentials and keys of a device, written only while this worker owns it. */
export function makeDeviceAuth(
  { caches, statements, signalFormat, onLost }: AuthContext,
  { id, lease, vault, contacts }: Owned,
): DeviceAuth {
  let writing = startWriting()

  const read = (type: string, ids: string[]) => statements.authReads.add({ deviceId: id, type, ids })

  function source() {
    const own = writing
    const cache = caches.auth()
    return { read, vault, format: signalFormat, cache, write: (rows: AuthRows) => write(rows, own) }
  }

  /** Once this resolves, the ciphertext may leave: the rows are stored, and this worker was still the owner after that. */
  async function write(rows: AuthRows, { isRetired, underway }: Writing): Promise<void> {
    // Baileys goes on for a while after its socket has ended. Keys that it makes then belong to no link.
    if (isRetired) return
    const storing = statements.authWrites.add({ fence: lease, deviceId: id, rows })
    underway.add(storing)
    const lost = await storing.finally(() => underway.delete(storing))
    if (lost) {
      // Reported here as well as thrown, because Baileys swallows errors during encryption.
      onLost(lost)
      throw lost
    }
    // Ownership is uncertain: Postgres may have been down for a whole lease, and then the lease continues.
    if (!lease.isValid()) throw new LeaseLapsed()
  }

  function open(creds?: AuthenticationCreds): AuthStore {
    const own = writing
    const store = makeAuthStore(source(), creds)
    const note: DeviceContacts['note'] = async (learnt) => {
      if (!own.isRetired) await contacts.note(learnt)
    }
    return { ...store, keys: noteNumbers(store.keys, note) }
  }

  return {
    async load() {
      const creds = await findCreds({ read, vault })
      return creds && open(creds)
    },
    make: () => open(),
    async retire() {
      const { underway } = writing
      writing.isRetired = true
      writing = startWriting()
      await Promise.allSettled(underway)
    },
  }
}

function startWriting(): Writing {
  return { isRetired: false, underway: new Set() }
}
