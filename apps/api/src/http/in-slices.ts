import { setTimeout as delay } from 'node:timers/promises'

/** Processing this much takes a few milliseconds. A multiple of four, so that base64 can be decoded slice by slice. */
const sliceSizeMax = 2 ** 20
const largeSizeMin = 256 * 1024
const pauseMs = 10

export const isLarge = (size: number) => size >= largeSizeMin

/**
 * Slices of a text or of bytes; short data is one slice. Pauses before each slice of large data: processing megabytes
 * at once blocks this process for tens of milliseconds, and answering another request takes several turns of the event
 * loop. `shorten` gets every slice but the last and may leave its end to the next one. `sizeMax` is for tests of cuts.
 */
export async function* inSlices<Data extends string | Buffer>(
  data: Data,
  shorten = (slice: Data): Data => slice,
  sizeMax = sliceSizeMax,
): AsyncGenerator<Data> {
  const cut = (start: number, end: number) =>
    (typeof data === 'string' ? data.slice(start, end) : data.subarray(start, end)) as Data
  for (let start = 0; start < data.length; ) {
    if (isLarge(data.length)) await delay(pauseMs)
    const end = start + sizeMax
    const slice = end < data.length ? shorten(cut(start, end)) : cut(start, data.length)
    yield slice
    start += slice.length
  }
}
