/** Tells the downloads that a message with a file was stored. */
export type MediaArrivals = {
  note(): void
  onArrival(listener: () => void): void
}

export function makeMediaArrivals(): MediaArrivals {
  let notify: () => void = () => undefined
  return {
    note: () => notify(),
    onArrival(listener) {
      notify = listener
    },
  }
}
