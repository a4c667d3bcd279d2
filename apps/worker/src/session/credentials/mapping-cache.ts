import type { LIDMappingStore } from 'baileys/lib/Signal/lid-mapping.js'
import { makeRecentMap } from '../../caches/recent-map.ts'

/** More than a single call needs. The cache of the store below holds the same values. */
const entriesMax = 200

/**
 * Baileys remembers the two addresses of every contact for three days, with 400 bytes and a timer for each address.
 * It needs them only within a single call.
 */
export function boundMappingCache(mapping: LIDMappingStore): void {
  Reflect.set(mapping, 'mappingCache', makeRecentMap<string, string>(entriesMax))
}
