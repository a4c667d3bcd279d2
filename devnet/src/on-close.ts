export type OnClose = (undo: () => Promise<unknown>) => void

/** Collects what to undo on close, the last first. `close` may be called twice, also during the start. */
export function collectUndos(): { onClose: OnClose; close(): Promise<void> } {
  const undos: (() => Promise<unknown>)[] = []
  let closing: Promise<void> | undefined

  async function undoAll(): Promise<void> {
    for (let undo = undos.pop(); undo; undo = undos.pop()) await undo()
  }

  return {
    onClose(undo) {
      undos.push(undo)
      // Something that came up after the end of it all goes at once.
      if (closing) closing = closing.then(undoAll)
    },
    close: () => (closing ??= undoAll()),
  }
}

/** The work's result, unless the signal comes first. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  signal.throwIfAborted()
  const finished = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: finished.signal })
  })
  return Promise.race([work, aborted]).finally(() => finished.abort())
}
