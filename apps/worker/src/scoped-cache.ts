import { LRUCache } from 'lru-cache'

/** A part of a shared cache: what is set in one scope is not seen in another, and goes when others need the room. */
export type Scope = {
  get(key: string): { value: unknown } | undefined
  /** `size`: how much of the room it takes. */
  set(key: string, value: unknown, size?: number): void
  delete(key: string): void
  /** Gives its room back, and keeps nothing from now on. */
  close(): void
}

type Limits = {
  /** Of all entries together. */
  sizeMax: number
  /** Of the entries of one scope, so that a busy one leaves room to the others. */
  scopeSizeMax?: number
  ttlMs?: number
}

/** `sizes`: of all entries of its scope, by key, the one that was used last at the end. */
type Owner = { sizes: Map<string, number>; total: number }

type Entry = { value: unknown; size: number; owner: Owner }

/**
 * One bounded cache for all devices of the process; each call of the answer opens a new, empty scope. A cache
 * for each device would reserve its full size for each of hundreds.
 */
export function makeScopedCache({ sizeMax, scopeSizeMax = sizeMax, ttlMs = 0 }: Limits): () => Scope {
  const cache = new LRUCache<string, Entry>({
    maxSize: sizeMax,
    sizeCalculation: ({ size }) => size,
    ttl: ttlMs,
    dispose({ owner, size }, key) {
      owner.sizes.delete(key)
      owner.total -= size
    },
  })
  let scopes = 0
  return () => {
    scopes += 1
    const prefix = `${scopes}|`
    const owner: Owner = { sizes: new Map(), total: 0 }
    let isClosed = false

    function makeRoom(): void {
      for (const oldest of owner.sizes.keys()) {
        if (owner.total <= scopeSizeMax) return
        cache.delete(oldest)
      }
    }

    return {
      get(key) {
        const entry = cache.get(prefix + key)
        if (entry && owner.sizes.delete(prefix + key)) owner.sizes.set(prefix + key, entry.size)
        return entry
      },
      set(key, value, size = 1) {
        cache.delete(prefix + key)
        if (isClosed || size > scopeSizeMax) return
        cache.set(prefix + key, { value, size, owner })
        owner.sizes.set(prefix + key, size)
        owner.total += size
        makeRoom()
      },
      delete: (key) => {
        cache.delete(prefix + key)
      },
      close() {
        isClosed = true
        for (const key of owner.sizes.keys()) cache.delete(key)
      },
    }
  }
}
