import type { FairSemaphore } from '@wagate/runtime/fair-semaphore'

/** The part of a worker's memory for media that one file has reserved. */
export type MediaRoom = {
  /** Grows the reservation to this size unless it would have to wait. */
  tryGrow(bytes: number): boolean
  /** Releases the reservation and waits for this much. */
  wait(bytes: number): Promise<void>
  release(): void
}

export function makeMediaRoom(semaphore: FairSemaphore, key: string): MediaRoom {
  let reserved = 0
  let releases: (() => void)[] = []

  function release(): void {
    for (const release of releases.splice(0)) release()
    reserved = 0
  }

  return {
    release,
    tryGrow(bytes) {
      if (bytes <= reserved) return true
      const taken = semaphore.tryAcquire(key, bytes - reserved)
      if (!taken) return false
      releases.push(taken)
      reserved = bytes
      return true
    },
    async wait(bytes) {
      // Two files that wait for more while they hold some could block each other.
      release()
      releases = [await semaphore.acquire(key, bytes)]
      reserved = bytes
    },
  }
}
