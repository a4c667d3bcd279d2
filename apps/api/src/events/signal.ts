export type Signal = {
  notify(): void
  /** Resolves at the first notification after this call. */
  next(): Promise<void>
}

export function makeSignal(): Signal {
  let resolveNext: () => void
  let nextNotified: Promise<void>
  const renew = () => {
    nextNotified = new Promise((resolve) => {
      resolveNext = resolve
    })
  }
  renew()
  return {
    notify() {
      resolveNext()
      renew()
    },
    next: () => nextNotified,
  }
}
