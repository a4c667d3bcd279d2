import type { LIDMappingStore } from 'baileys/lib/Signal/lid-mapping.js'

/** More than a single call needs. The cache of the store below holds the same values. */
const entriesMax = 200

/**
 * Baileys remembers the two addresses of every contact for three days, with 400 bytes and a timer for each address.
 * It needs them only within a single call.
 */
export function boundMappingCache(mapping: LIDMappingStore): void {
  const entries = new Map<string, string>()
  Reflect.set(mapping, 'mappingCache', {
    get: (key: string) => entries.get(key),
    set(key: string, value: string) {
      entries.delete(key)
      entries.set(key, value)
      const [oldest] = entries.keys()
      if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest)
    },
    clear: () => entries.clear(),
  })
}
