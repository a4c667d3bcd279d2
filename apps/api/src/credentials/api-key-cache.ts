import type { Database } from '@wagate/db/client'
import { findKeyHolders, type KeyHolder, setKeyUsed } from '@wagate/db/queries/api-keys'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors/app-error.ts'
import { hashApiKey, isWellFormedApiKey } from './api-key.ts'

export type KeyRing = {
  /** Who holds a key that was looked up a moment ago, without asking anybody. Throws `expired_api_key`. */
  recall(key: string): KeyHolder | undefined
  /** Undefined for a key that is not valid. Throws `expired_api_key`. */
  findHolder(key: string): Promise<KeyHolder | undefined>
  /** Something about the account or its keys has changed: what is cached of it does not count any more. */
  forget(accountId: number): void
}

/** Without Redis, which tells of changes, a revoked key, a changed role or a new expiry counts after this. */
const cacheMs = 5000
const lastUsedMs = 60_000
const keysMax = 10_000
const lookUpsAtOnceMax = 500

/** Requests that come with one key at the same time share one look-up. */
export function makeKeyRing(db: Database): KeyRing {
  const holders = new LRUCache<string, KeyHolder>({ max: keysMax, ttl: cacheMs })
  const noted = new LRUCache<number, true>({ max: keysMax, ttl: lastUsedMs })
  const lookUps = new Map<string, Promise<KeyHolder | undefined>>()
  // One statement at a time: a flood of made-up keys takes one connection of the pool, not all.
  const batch = makeNaturalBatch<string, KeyHolder | undefined>(
    async (hashes) => {
      const found = await findKeyHolders(db, hashes)
      return hashes.map((hash) => found.get(hash))
    },
    { itemsMax: lookUpsAtOnceMax },
  )

  function lookUp(hash: string): Promise<KeyHolder | undefined> {
    const running = lookUps.get(hash)
    if (running !== undefined) return running
    const started = batch
      .add(hash)
      .then((holder) => {
        // Unless it was forgotten meanwhile: it may have been read before the change.
        if (holder && lookUps.get(hash) === started) holders.set(hash, holder)
        return holder
      })
      .finally(() => {
        if (lookUps.get(hash) === started) lookUps.delete(hash)
      })
    lookUps.set(hash, started)
    return started
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
    async findHolder(key) {
      if (!isWellFormedApiKey(key)) return undefined
      const holder = await lookUp(hashApiKey(key).toString('base64'))
      return holder && use(holder)
    },
    forget(accountId) {
      for (const [hash, holder] of holders.entries()) {
        if (holder.accountId === accountId) holders.delete(hash)
      }
      lookUps.clear()
    },
  }
}
