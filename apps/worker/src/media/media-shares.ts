import { type FairSemaphore, makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { makeSlowHosts, type SlowHosts } from './slow-hosts.ts'

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
