import type { LookupFunction } from 'node:net'

/**
 * Resolves names like `lookup`. A name with any forbidden address is like one without an address, so that nobody learns the
 * names of an internal network. A socket connects to exactly the addresses that were checked, so DNS rebinding gains nothing.
 */
export function makePublicLookup(
  isForbidden: (address: string) => boolean,
  lookup: LookupFunction,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found]
      const isRefused = !error && addresses.some(isForbidden)
      if (isRefused) callback(notPublic(hostname), options.all ? [] : '')
      else callback(error, found, family)
    })
  }
}

function notPublic(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error('The host name has no public address'), { code: 'ENOTFOUND', hostname })
}
