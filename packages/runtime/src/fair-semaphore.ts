/**
 * Grants `total` units to callers that are grouped by a key, such as an account. A key never holds more than
 * `shareMax`, whether others wait or not, so that the rest is there for the next one. Keys that wait are granted in
 * turn, each one's demands in their order. A demand above `shareMax` waits for the whole share.
 */
export type FairSemaphore = {
  /**
   * Resolves to the function that releases the units; calling it twice is harmless. Rejects with the reason of the
   * signal when that is aborted before. Do not wait for more while holding some: two that do can block each other.
   */
  acquire(key: string, units: number, signal?: AbortSignal): Promise<Release>
  /** The same without waiting; undefined when the demand would have to wait. */
  tryAcquire(key: string, units: number): Release | undefined
  /** Whether the key already holds so much that the demand does not fit into its share. */
  isShareUsedUp(key: string, units: number): boolean
}

type Release = () => void
type Demand = { units: number; grant: () => void }

export function makeFairSemaphore(total: number, { shareMax }: { shareMax: number }): FairSemaphore {
  const unitsMax = Math.min(total, shareMax)
  const held = new Map<string, number>()
  /** In the order of their turns. A key without demands is removed. */
  const waiting = new Map<string, Set<Demand>>()
  let free = total

  const heldBy = (key: string) => held.get(key) ?? 0
  const fitsShare = (key: string, units: number) => heldBy(key) + units <= unitsMax

  function change(key: string, units: number): void {
    const now = heldBy(key) + units
    if (now === 0) held.delete(key)
    else held.set(key, now)
    free -= units
  }

  function take(key: string, units: number): Release {
    let isHeld = true
    change(key, units)
    return () => {
      if (!isHeld) return
      isHeld = false
      change(key, -units)
      grantWaiting()
    }
  }

  function grantWaiting(): void {
    // A key that is granted something moves to the end, where this loop meets it again.
    for (const [key, demands] of waiting) {
      const [next] = demands
      if (!next || !fitsShare(key, next.units)) continue
      // Smaller demands do not overtake it: it would never get its turn.
      if (next.units > free) return
      waiting.delete(key)
      demands.delete(next)
      if (demands.size > 0) waiting.set(key, demands)
      next.grant()
    }
  }

  /** Only a key that has used up its share leaves the free units to others. */
  function isFreeForOthers(): boolean {
    for (const [key, [next]] of waiting) if (next && fitsShare(key, next.units)) return false
    return true
  }

  function tryAcquire(key: string, wanted: number): Release | undefined {
    const units = Math.min(wanted, unitsMax)
    const mayTake = units <= free && fitsShare(key, units) && !waiting.has(key) && isFreeForOthers()
    return mayTake ? take(key, units) : undefined
  }

  function wait(key: string, units: number, signal?: AbortSignal): Promise<Release> {
    return new Promise((resolve, reject) => {
      const demands = waiting.get(key) ?? new Set()
      const demand = {
        units,
        grant() {
          signal?.removeEventListener('abort', giveUp)
          resolve(take(key, units))
        },
      }
      function giveUp(): void {
        demands.delete(demand)
        if (demands.size === 0) waiting.delete(key)
        reject(signal?.reason)
        grantWaiting()
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      waiting.set(key, demands.add(demand))
    })
  }

  return {
    tryAcquire,
    isShareUsedUp: (key, wanted) => !fitsShare(key, Math.min(wanted, unitsMax)),
    async acquire(key, wanted, signal) {
      signal?.throwIfAborted()
      return tryAcquire(key, wanted) ?? wait(key, Math.min(wanted, unitsMax), signal)
    },
  }
}
