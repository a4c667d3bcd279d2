import type { PossiblyExtendedCacheStore } from 'baileys'
import type { AuthStore } from '../credentials/auth-store.ts'

const type = 'user-devices'
/** Hours rather than minutes: every miss makes Baileys fetch new Signal sessions with the contact and the sender's phone. */
const lifeMs = 12 * 3_600_000

type Stored = { devices: unknown; at: number }

/**
 * The devices of a contact according to WhatsApp's last answer. Stored with the keys of the device, so that a new owner or
 * a restart need not ask again for every contact.
 */
export function makeUserDevices(auth: AuthStore): PossiblyExtendedCacheStore {
  async function read(users: string[]): Promise<{ [user: string]: unknown }> {
    const found: { [user: string]: unknown } = {}
    for (const [user, stored] of await auth.readOwn(type, users)) {
      const { devices, at } = stored as Stored
      if (Date.now() - at < lifeMs) found[user] = devices
    }
    return found
  }

  async function write(entries: { key: string; value: unknown }[]): Promise<void> {
    const at = Date.now()
    await auth.writeOwn(type, new Map(entries.map(({ key, value }) => [key, { devices: value, at }])))
  }

  return {
    // The interface of Baileys lets the caller choose the type, which needs casts.
    get: <Value>(user: string) => read([user]).then((found) => found[user]) as Promise<Value>,
    mget: <Value>(users: string[]) => read(users) as Promise<Record<string, Value>>,
    set: (key, value) => write([{ key, value }]),
    mset: write,
    del: (user) => auth.writeOwn(type, new Map([[user, null]])),
    flushAll: () => undefined,
  }
}
