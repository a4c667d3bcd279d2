import { LRUCache } from 'lru-cache'

/** A part of a shared cache. Entries are visible in their own scope only, and are evicted when others need the room. */
export type Scope<Value = unknown> = {
  get(key: string): { value: Value } | undefined
  /** `size`: how much of the limits the entry uses. */
  set(key: string, value: Value, size?: number): void
  delete(key: string): void
  /** Frees its entries. It keeps nothing from now on. */
  close(): void
}

type Limits = {
  /** The limit for all entries together. */
  sizeMax: number
  /** The limit for one scope, so that a busy one leaves room for the others. */
  scopeSizeMax?: number
  ttlMs?: number
}

/** `sizes`: the sizes of the scope's entries by key, in the order of their last use. */
type Owner = { sizes: Map<string, number>; total: number }

type Entry<Value> = { value: Value; size: number; owner: Owner }

/**
 * One bounded cache for all devices of the process. Each call of the returned function opens a new, empty scope. A cache
 * per device would have to reserve its full size for each of hundreds of devices.
 */
export function makeScopedCache<Value = unknown>({
  sizeMax,
  scopeSizeMax = sizeMax,
  ttlMs = 0,
}: Limits): () => Scope<Value> {
  const cache = new LRUCache<string, Entry<Value>>({
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
