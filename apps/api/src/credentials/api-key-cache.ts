import type { Database } from '@wagate/db/client'
import { findKeyHolders, setKeyUsed } from '@wagate/db/queries/accounts/api-keys'
import { findLinkHolders } from '@wagate/db/queries/devices/pairing-links'
import { findStreamTokenHolders } from '@wagate/db/queries/events/stream-tokens'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors/app-error.ts'
import { hashApiKey, isOfLink, isStreamToken, isWellFormedApiKey } from './api-key.ts'
import type { Principal } from './principal.ts'

export type ApiKeyCache = {
  /** Without a database query. Throws `expired_api_key` or `account_disabled`. */
  findCached(key: string): Principal | undefined
  /** Undefined for an invalid key. Throws `expired_api_key` or `account_disabled`. */
  find(key: string): Promise<Principal | undefined>
  /** To be called after a change of the account or of its keys. */
  forget(accountId: number): void
}

/**
 * Redis announces changes. Without it, revoked keys, disabled accounts, and changed roles or expiries take effect after this
 * time.
 */
const cacheMs = 5000
const lastUsedMs = 60_000
const keysMax = 10_000
const lookUpsAtOnceMax = 500

/** Concurrent requests with the same key share one look-up. */
export function makeApiKeyCache(db: Database): ApiKeyCache {
  const principals = new LRUCache<string, Principal>({ max: keysMax, ttl: cacheMs })
  const noted = new LRUCache<number, true>({ max: keysMax, ttl: lastUsedMs })
  const lookUps = new Map<string, Promise<Principal | undefined>>()
  // One statement at a time, so that a flood of invalid keys occupies one connection of the pool and not all.
  const batchOf = (find: (db: Database, hashes: string[]) => Promise<Map<string, Principal>>) =>
    makeNaturalBatch<string, Principal | undefined>(
      async (hashes) => {
        const found = await find(db, hashes)
        return hashes.map((hash) => found.get(hash))
      },
      { itemsMax: lookUpsAtOnceMax },
    )
  const ofKeys = batchOf(findKeyHolders)
  const ofLinks = batchOf(findLinkHolders)
  const ofStreams = batchOf(findStreamTokenHolders)

  function lookUp(hash: string, batch: typeof ofKeys): Promise<Principal | undefined> {
    const running = lookUps.get(hash)
    if (running !== undefined) return running
    const started = batch
      .add(hash)
      .then((principal) => {
        // A look-up that was forgotten in the meantime may have read the state before the change.
        if (principal && lookUps.get(hash) === started) principals.set(hash, principal)
        return principal
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
    // In the background and without a retry: the next use in a minute writes it again.
    setKeyUsed(db, keyId).catch(() => noted.delete(keyId))
  }

  function use(principal: Principal): Principal {
    if (principal.accountDisabledAt) throw accountDisabled()
    if (principal.keyExpiresAt && principal.keyExpiresAt.getTime() <= Date.now()) {
      throw new AppError('expired_api_key', 'The API key has expired.')
    }
    if (!principal.link && !principal.streamToken) noteUse(principal.keyId)
    return principal
  }

  return {
    findCached(key) {
      const principal = principals.get(hashApiKey(key).toString('base64'))
      return principal && use(principal)
    },
    async find(key) {
      if (!isWellFormedApiKey(key)) return undefined
      const batch = isStreamToken(key) ? ofStreams : isOfLink(key) ? ofLinks : ofKeys
      const principal = await lookUp(hashApiKey(key).toString('base64'), batch)
      return principal && use(principal)
    },
    forget(accountId) {
      for (const [hash, principal] of principals.entries()) {
        if (principal.accountId === accountId) principals.delete(hash)
      }
      lookUps.clear()
    },
  }
}

/** Whether a key that was valid still is. True while Postgres does not answer. */
export async function isStillValid(
  keys: Pick<ApiKeyCache, 'findCached' | 'find'>,
  key: string,
): Promise<boolean> {
  try {
    return (keys.findCached(key) ?? (await keys.find(key))) !== undefined
  } catch (error) {
    return !(error instanceof AppError)
  }
}

export function accountDisabled(): AppError {
  return new AppError('account_disabled', 'The account is disabled.')
}
