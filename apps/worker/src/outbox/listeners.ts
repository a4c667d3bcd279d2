export type Listeners = {
  call(): void
  /** Returns a function that removes the listener. */
  onChange(listener: () => void): () => void
}

export function makeListeners(): Listeners {
  const listeners = new Set<() => void>()
  return {
    call() {
      // One may remove itself meanwhile.
      for (const listener of [...listeners]) listener()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
