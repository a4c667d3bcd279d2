import type { Database } from '@wagate/db/client'
import { findKeyHolder, type KeyHolder, setKeyUsed } from '@wagate/db/queries/api-keys'
import { hashApiKey, isWellFormedApiKey } from '@wagate/shared/api-key'
import { AppError } from '@wagate/shared/app-error'
import { LRUCache } from 'lru-cache'

export type KeyRing = {
  /** Throws `invalid_api_key` or `expired_api_key`. */
  getHolder(key: string): Promise<KeyHolder>
}

/** A revoked key, a changed role or a new expiry counts after this at the latest. */
const cacheMs = 5000
const lastUsedMs = 60_000

/** Requests that come with one key at the same time share one look-up. */
export function makeKeyRing(db: Database): KeyRing {
  const holders = new LRUCache<string, KeyHolder>({
    max: 10_000,
    ttl: cacheMs,
    fetchMethod: (hash) => findKeyHolder(db, Buffer.from(hash, 'base64')),
  })
  const noted = new LRUCache<number, true>({ max: 10_000, ttl: lastUsedMs })

  function noteUse(keyId: number): void {
    if (noted.has(keyId)) return
    noted.set(keyId, true)
    // In the background, and worth no retry: it is written again in a minute.
    setKeyUsed(db, keyId).catch(() => noted.delete(keyId))
  }

  return {
    async getHolder(key) {
      const holder = isWellFormedApiKey(key)
        ? await holders.fetch(hashApiKey(key).toString('base64'))
        : undefined
      if (!holder) throw new AppError('invalid_api_key', 'The API key is not valid.')
      if (holder.keyExpiresAt && holder.keyExpiresAt.getTime() <= Date.now()) {
        throw new AppError('expired_api_key', 'The API key has expired.')
      }
      noteUse(holder.keyId)
      return holder
    },
  }
}
