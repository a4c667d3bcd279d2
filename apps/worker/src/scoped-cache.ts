import { LRUCache } from 'lru-cache'

/** A part of a shared cache: what is set in one scope is not seen in another, and goes when others need the room. */
export type Scope = {
  get(key: string): { value: unknown } | undefined
  set(key: string, value: unknown): void
  delete(key: string): void
  /** Gives its room back, and keeps nothing from now on. */
  close(): void
}

/** `keys`: all of its scope. */
type Entry = { value: unknown; keys: Set<string> }

/**
 * One bounded cache for all devices of the process; each call of the answer opens a new, empty scope. A cache
 * for each device would reserve its full size for each of hundreds.
 */
export function makeScopedCache(options: { entriesMax: number; ttlMs?: number }): () => Scope {
  const cache = new LRUCache<string, Entry>({
    max: options.entriesMax,
    ttl: options.ttlMs ?? 0,
    dispose: ({ keys }, key) => keys.delete(key),
  })
  let scopes = 0
  return () => {
    scopes += 1
    const prefix = `${scopes}|`
    const keys = new Set<string>()
    let isClosed = false
    return {
      get: (key) => cache.get(prefix + key),
      set(key, value) {
        if (isClosed) return
        cache.set(prefix + key, { value, keys })
        keys.add(prefix + key)
      },
      delete: (key) => {
        cache.delete(prefix + key)
      },
      close() {
        isClosed = true
        for (const key of keys) cache.delete(key)
      },
    }
  }
}
