import type { SignalKeyStore } from 'baileys'

const type = 'tctoken'
const indexId = '__index'

/**
 * Baileys keeps a list of all contacts with a privacy token, to find those that have expired, and rewrites it with the
 * first message to every contact: with 10,000 contacts that is 300 KiB each time. It is not stored here. Housekeeping
 * deletes tokens that have not been used for a long time.
 */
export function withoutTokenIndex(keys: SignalKeyStore): SignalKeyStore {
  return {
    get: (asked, ids) => keys.get(asked, asked === type ? ids.filter((id) => id !== indexId) : ids),
    async set(data) {
      const { [type]: tokens, ...others } = data
      const kept = Object.entries(tokens ?? {}).filter(([id]) => id !== indexId)
      const left = kept.length > 0 ? { ...others, [type]: Object.fromEntries(kept) } : others
      if (Object.keys(left).length > 0) await keys.set(left)
    },
  }
}
