/** Keeps the latest item until it is taken. */
export type Inbox<Item> = {
  put(item: Item): void
  /** Undefined when nothing has come in time, or once the inbox is closed. One call at a time. */
  take(forMs: number): Promise<Item | undefined>
  isClosed(): boolean
  close(): void
}

export function makeInbox<Item>(): Inbox<Item> {
  let kept: Item | undefined
  let isClosed = false
  let answer: ((item: Item | undefined) => void) | undefined

  return {
    put(item) {
      if (answer) answer(item)
      else kept = item
    },
    take(forMs) {
      if (kept !== undefined || isClosed) {
        const item = kept
        kept = undefined
        return Promise.resolve(item)
      }
      return new Promise((resolve) => {
        // Node counts timers in whole milliseconds, from the last whole one: rounded up, none fires early.
        const timer = setTimeout(() => answer?.(undefined), Math.ceil(forMs) + 1)
        answer = (item) => {
          clearTimeout(timer)
          answer = undefined
          resolve(item)
        }
      })
    },
    isClosed: () => isClosed,
    close() {
      isClosed = true
      answer?.(undefined)
    },
  }
}
