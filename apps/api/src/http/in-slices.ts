import { setImmediate as nextTurn } from 'node:timers/promises'

/** Processing this much takes about a millisecond. A multiple of four, so that base64 can be decoded slice by slice. */
const sliceSizeMax = 2 ** 20
const largeSizeMin = 256 * 1024
/** The pause before a slice, while others use the event loop. */
const pauseMsMax = 10
/** A turn of the event loop in which nothing else was done is shorter. */
const idleTurnMsMax = 0.2

export const isLarge = (size: number) => size >= largeSizeMin

/**
 * Slices of a text or of bytes; short data is one slice. Others run before each slice of large data: processing megabytes
 * in one piece blocks this process for tens of milliseconds. `shorten` gets every slice but the last and may leave its end to
 * the next one. `sizeMax` is for tests of cuts.
 */
export async function* inSlices<Data extends string | Buffer>(
  data: Data,
  shorten = (slice: Data): Data => slice,
  sizeMax = sliceSizeMax,
): AsyncGenerator<Data> {
  const cut = (start: number, end: number) =>
    (typeof data === 'string' ? data.slice(start, end) : data.subarray(start, end)) as Data
  for (let start = 0; start < data.length; ) {
    if (isLarge(data.length)) await letOthersRun()
    const end = start + sizeMax
    const slice = end < data.length ? shorten(cut(start, end)) : cut(start, data.length)
    yield slice
    start += slice.length
  }
}

/**
 * Waits until the event loop has nothing else to do: answering another request takes several of its turns. The parameters
 * are for tests.
 */
export async function letOthersRun(
  turn: () => Promise<unknown> = nextTurn,
  now = () => performance.now(),
): Promise<void> {
  const startedAt = now()
  for (let turnAt = startedAt; ; ) {
    await turn()
    const endedAt = now()
    if (endedAt - turnAt <= idleTurnMsMax || endedAt - startedAt >= pauseMsMax) return
    turnAt = endedAt
  }
}
