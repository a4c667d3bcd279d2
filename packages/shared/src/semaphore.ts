/** Hands out `total` units, first come first served. A demand above the total waits for all of it. */
export type Semaphore = {
  /** Resolves to the function that gives the units back; calling it twice is harmless. */
  acquire(units: number): Promise<() => void>
}

export function makeSemaphore(total: number): Semaphore {
  let free = total
  const waiting: { units: number; start: () => void }[] = []

  function startWaiting(): void {
    for (let next = waiting[0]; next && next.units <= free; next = waiting[0]) {
      waiting.shift()
      free -= next.units
      next.start()
    }
  }

  return {
    acquire: (wanted) => {
      const units = Math.min(wanted, total)
      return new Promise((resolve) => {
        let isHeld = true
        const release = () => {
          if (!isHeld) return
          isHeld = false
          free += units
          startWaiting()
        }
        waiting.push({ units, start: () => resolve(release) })
        startWaiting()
      })
    },
  }
}
