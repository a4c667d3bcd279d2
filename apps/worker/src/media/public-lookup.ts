import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { MediaError } from './media-error.ts'

/**
 * Resolves names like `lookup`, and refuses a name with any forbidden address. A socket connects to exactly the addresses
 * that were checked, so DNS rebinding gains nothing.
 */
export function makePublicLookup(
  isForbidden: (address: string) => boolean,
  lookup: LookupFunction = systemLookup,
  makeRefusal = (): Error => new MediaError('media_url_forbidden'),
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found]
      const isRefused = !error && addresses.some(isForbidden)
      callback(isRefused ? makeRefusal() : error, found, family)
    })
  }
}
