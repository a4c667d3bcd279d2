import { makeListeners } from './listeners.ts'

/** Whether its account lets a sender send. What is on the wire ends all the same. Outlives a connection. */
export type SendPause = {
  /** Ms until it may send again: 0 while it may, Infinity without an end. */
  leftMs(): number
  set(pause: Pause): void
  onChange(listener: () => void): () => void
}

/** `untilMs`: by the clock of Postgres. Null: until it is resumed. */
export type Pause = { isPaused: boolean; pausedUntilMs: number | null }

export function makeSendPause(dateMs: () => number): SendPause {
  const { call: tell, onChange } = makeListeners()
  let endMs = 0

  return {
    leftMs: () => Math.max(0, endMs - dateMs()),
    set({ isPaused, pausedUntilMs }) {
      const before = endMs
      endMs = isPaused ? (pausedUntilMs ?? Number.POSITIVE_INFINITY) : 0
      if (endMs !== before) tell()
    },
    onChange,
  }
}
