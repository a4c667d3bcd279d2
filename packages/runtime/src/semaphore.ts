/** Hands out `total` units, first come first served. A demand above the total waits for all of it. */
export type Semaphore = {
  /**
   * Resolves to the function that gives the units back; calling it twice is harmless. Rejects with the reason
   * of the signal when that is aborted before.
   */
  acquire(units: number, signal?: AbortSignal): Promise<() => void>
  /** The same at once, or undefined if the caller or an earlier one had to wait. */
  tryAcquire(units: number): (() => void) | undefined
  /** No unit is in use. */
  isIdle(): boolean
}

export function makeSemaphore(total: number): Semaphore {
  let free = total
  const waiting = new Set<{ units: number; start: () => void }>()

  function startWaiting(): void {
    for (const next of waiting) {
      if (next.units > free) return
      waiting.delete(next)
      next.start()
    }
  }

  function take(units: number): () => void {
    let isHeld = true
    free -= units
    return () => {
      if (!isHeld) return
      isHeld = false
      free += units
      startWaiting()
    }
  }

  function tryAcquire(wanted: number): (() => void) | undefined {
    const units = Math.min(wanted, total)
    return waiting.size === 0 && units <= free ? take(units) : undefined
  }

  return {
    tryAcquire,
    isIdle: () => free === total,
    acquire: async (wanted, signal) => {
      signal?.throwIfAborted()
      const taken = tryAcquire(wanted)
      if (taken) return taken
      return new Promise((resolve, reject) => {
        const units = Math.min(wanted, total)
        const demand = {
          units,
          start() {
            signal?.removeEventListener('abort', giveUp)
            resolve(take(units))
          },
        }
        function giveUp(): void {
          waiting.delete(demand)
          reject(signal?.reason)
          startWaiting()
        }
        signal?.addEventListener('abort', giveUp, { once: true })
        waiting.add(demand)
      })
    },
  }
}
