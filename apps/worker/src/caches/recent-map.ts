/** A bounded map, which drops the entry that was not used for the longest time. */
export type RecentMap<Key, Value> = {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
}

/**
 * For the many small maps of each device: it takes memory only for its entries. An `LRUCache` with a `max` reserves that
 * for all of them when it is made, 200 kB for 10,000.
 */
export function makeRecentMap<Key, Value>(entriesMax: number): RecentMap<Key, Value> {
  /** In the order of their last use. */
  const entries = new Map<Key, Value>()

  function put(key: Key, value: Value): void {
    entries.delete(key)
    entries.set(key, value)
  }

  return {
    get(key) {
      const value = entries.get(key)
      if (value !== undefined) put(key, value)
      return value
    },
    set(key, value) {
      put(key, value)
      const [oldest] = entries.keys()
      if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest)
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}
