import type { Database } from '@wagate/db/client'
import { findKeyHolder, type KeyHolder, setKeyUsed } from '@wagate/db/queries/api-keys'
import { hashApiKey, isWellFormedApiKey } from '@wagate/shared/api-key'
import { AppError } from '@wagate/shared/app-error'
import { LRUCache } from 'lru-cache'
import type { GuessGuard } from './guess-guard.ts'

export type KeyRing = {
  /** Who holds a key that was looked up a moment ago, without asking anybody. Throws `expired_api_key`. */
  recall(key: string): KeyHolder | undefined
  /** Throws `invalid_api_key`, `expired_api_key` or `rate_limited`. */
  getHolder(key: string, clientAddress: string): Promise<KeyHolder>
  /** Something about the account or its keys has changed: what is cached of it does not count any more. */
  forget(accountId: number): void
}

/** Without Redis, which tells of changes, a revoked key, a changed role or a new expiry counts after this. */
const cacheMs = 5000
const lastUsedMs = 60_000
const keysMax = 10_000

/** Requests that come with one key at the same time share one look-up. */
export function makeKeyRing(db: Database, guard: GuessGuard): KeyRing {
  const holders = new LRUCache<string, KeyHolder>({ max: keysMax, ttl: cacheMs })
  const seenValid = new LRUCache<string, true>({ max: keysMax })
  const noted = new LRUCache<number, true>({ max: keysMax, ttl: lastUsedMs })
  const lookUps = new Map<string, Promise<KeyHolder | undefined>>()

  function lookUp(hash: string): Promise<KeyHolder | undefined> {
    const running = lookUps.get(hash)
    if (running !== undefined) return running
    const started = findKeyHolder(db, Buffer.from(hash, 'base64'))
      .then((holder) => {
        // Unless it was forgotten meanwhile: it may have been read before the change.
        if (holder && lookUps.get(hash) === started) holders.set(hash, holder)
        if (holder) seenValid.set(hash, true)
        return holder
      })
      .finally(() => {
        if (lookUps.get(hash) === started) lookUps.delete(hash)
      })
    lookUps.set(hash, started)
    return started
  }

  async function find(key: string, clientAddress: string): Promise<KeyHolder | undefined> {
    if (!isWellFormedApiKey(key)) return guard(clientAddress, async () => undefined)
    const hash = hashApiKey(key).toString('base64')
    const known = seenValid.has(hash) ? await lookUp(hash) : undefined
    if (known) return known
    seenValid.delete(hash)
    return guard(clientAddress, () => lookUp(hash))
  }

  function noteUse(keyId: number): void {
    if (noted.has(keyId)) return
    noted.set(keyId, true)
    // In the background, and worth no retry: it is written again in a minute.
    setKeyUsed(db, keyId).catch(() => noted.delete(keyId))
  }

  function use(holder: KeyHolder): KeyHolder {
    if (holder.keyExpiresAt && holder.keyExpiresAt.getTime() <= Date.now()) {
      throw new AppError('expired_api_key', 'The API key has expired.')
    }
    noteUse(holder.keyId)
    return holder
  }

  return {
    recall(key) {
      const holder = holders.get(hashApiKey(key).toString('base64'))
      return holder && use(holder)
    },
    async getHolder(key, clientAddress) {
      const holder = await find(key, clientAddress)
      if (!holder) throw new AppError('invalid_api_key', 'The API key is not valid.')
      return use(holder)
    },
    forget(accountId) {
      for (const [hash, holder] of holders.entries()) {
        if (holder.accountId === accountId) holders.delete(hash)
      }
      lookUps.clear()
    },
  }
}
