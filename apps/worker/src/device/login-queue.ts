/** Limits concurrent logins. Devices with waiting messages go first, then in order of arrival. */
export type LoginQueue = {
  /** Resolves to the function that releases the units; calling it twice is harmless. `isUrgent` is called when units become free. */
  acquire(units: number, isUrgent: () => boolean): Promise<() => void>
  /** No login is under way. */
  isIdle(): boolean
}

export function makeLoginQueue(total: number): LoginQueue {
  let free = total
  const waiting = new Set<{ units: number; isUrgent: () => boolean; start: () => void }>()

  function next() {
    const [first] = waiting
    return [...waiting].find(({ isUrgent }) => isUrgent()) ?? first
  }

  function startWaiting(): void {
    for (let turn = next(); turn && turn.units <= free; turn = next()) {
      waiting.delete(turn)
      free -= turn.units
      turn.start()
    }
  }

  function releaseOnce(units: number): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      free += units
      startWaiting()
    }
  }

  return {
    isIdle: () => free === total,
    acquire: (units, isUrgent) =>
      new Promise((resolve) => {
        waiting.add({ units, isUrgent, start: () => resolve(releaseOnce(units)) })
        startWaiting()
      }),
  }
}
