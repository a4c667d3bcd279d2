import { type FairSemaphore, makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { LRUCache } from 'lru-cache'
import { MediaUnavailable } from './media-error.ts'

/** The limits that the media of all devices of a worker share. The keys of the semaphores are accounts. */
export type MediaShares = {
  /** Bytes of media files. */
  bytes: FairSemaphore
  /** Concurrent fetches. */
  fetches: FairSemaphore
  slowHosts: SlowHosts
}

const fetchesMax = 32
const fetchesOfAccountMax = 8

export function makeMediaShares(bytesMax: number): MediaShares {
  return {
    bytes: makeFairSemaphore(bytesMax, { shareMax: bytesMax / 2 }),
    fetches: makeFairSemaphore(fetchesMax, { shareMax: fetchesOfAccountMax }),
    slowHosts: makeSlowHosts(),
  }
}

export type SlowHosts = {
  /**
   * Runs a fetch. A host counts as slow for a device after a fetch from it timed out. From a slow host the device may
   * fetch one file at a time; another fetch throws MediaUnavailable at once.
   */
  visit<Result>(deviceId: number, url: string, fetch: () => Promise<Result>): Promise<Result>
}

const entriesMax = 10_000
const slowMs = 600_000

export function makeSlowHosts(): SlowHosts {
  const slow = new LRUCache<string, true>({ maxSize: entriesMax, sizeCalculation: () => 1, ttl: slowMs })
  const busy = new Set<string>()

  return {
    async visit(deviceId, url, fetch) {
      const key = `${deviceId} ${URL.canParse(url) ? new URL(url).host : ''}`
      if (!slow.has(key)) return run(key, fetch)
      if (busy.has(key)) throw new MediaUnavailable('media_fetch_timeout', { isOfHost: false })
      busy.add(key)
      try {
        const result = await run(key, fetch)
        slow.delete(key)
        return result
      } finally {
        busy.delete(key)
      }
    },
  }

  async function run<Result>(key: string, fetch: () => Promise<Result>): Promise<Result> {
    try {
      return await fetch()
    } catch (error) {
      if (error instanceof MediaUnavailable && error.code === 'media_fetch_timeout') slow.set(key, true)
      throw error
    }
  }
}
