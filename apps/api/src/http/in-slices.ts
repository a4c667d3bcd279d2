import { setTimeout as delay } from 'node:timers/promises'

/** A step over as much as that takes a few milliseconds. A multiple of four, so base64 can be decoded by slices. */
const stepSizeMax = 2 ** 20
const largeSizeMin = 256 * 1024
const pauseMs = 10

export const isLarge = (size: number) => size >= largeSizeMin

/**
 * A text or bytes in slices, what is short as a whole. Before each slice of what is large others have their turn:
 * a step over megabytes takes this process tens of milliseconds, and a request of somebody else needs several turns of
 * the event loop to be answered. `shorten` is given every slice but the last, and may leave some of its end to the next.
 */
export async function* slicesInTurn<Data extends string | Buffer>(
  data: Data,
  shorten = (slice: Data): Data => slice,
): AsyncGenerator<Data> {
  const cut = (start: number, end: number) =>
    (typeof data === 'string' ? data.slice(start, end) : data.subarray(start, end)) as Data
  for (let start = 0; start < data.length; ) {
    if (isLarge(data.length)) await delay(pauseMs)
    const end = start + stepSizeMax
    const slice = end < data.length ? shorten(cut(start, end)) : cut(start, data.length)
    yield slice
    start += slice.length
  }
}
