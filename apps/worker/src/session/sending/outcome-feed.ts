import type { Outcome } from './outcomes.ts'

type OutcomeListener = (waId: string, outcome: Outcome) => void

/**
 * What WhatsApp says about the messages that a device sent. One feed serves all connections of the device: a receipt is
 * published once it is stored, and by then the connection that brought it may have been replaced by the next one.
 */
export type OutcomeFeed = {
  publish: OutcomeListener
  /** Returns the function that ends the subscription. Listeners are called in the order of their subscriptions. */
  subscribe(listener: OutcomeListener): () => void
}

export function makeOutcomeFeed(): OutcomeFeed {
  const listeners = new Set<OutcomeListener>()
  return {
    publish(waId, outcome) {
      for (const listener of [...listeners]) listener(waId, outcome)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
