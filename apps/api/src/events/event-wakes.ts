import type { EventHints } from '@wagate/queue/event-hints'
import { makeSignal, type Signal } from './signal.ts'

export type EventWakes = {
  /** A signal for each notice that the account may have new events. */
  join(accountId: number): { signal: Signal; leave(): void }
}

/** An event becomes readable once all transactions of the server that began earlier have ended. */
export const untilReadableMs = [10, 30, 100, 250] as const

export function makeEventWakes({ onEvents }: Pick<EventHints, 'onEvents'>): EventWakes {
  const signals = new Map<number, Set<Signal>>()
  onEvents((accountId) => {
    for (const signal of signals.get(accountId) ?? []) signal.notify()
  })
  return {
    join(accountId) {
      const signal = makeSignal()
      const ofAccount = signals.get(accountId) ?? new Set()
      signals.set(accountId, ofAccount.add(signal))
      return {
        signal,
        leave() {
          ofAccount.delete(signal)
          if (ofAccount.size === 0 && signals.get(accountId) === ofAccount) signals.delete(accountId)
        },
      }
    },
  }
}
