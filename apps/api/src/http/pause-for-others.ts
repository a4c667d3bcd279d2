import { setTimeout as delay } from 'node:timers/promises'

/** A step over as much as that takes up to ten milliseconds. A multiple of four, so base64 can be decoded by slices. */
const stepCharsMax = 2 ** 20
const sizeMin = 256 * 1024
const pauseMs = 10

export const isLarge = (size: number) => size >= sizeMin

/**
 * Before each step over a text of `size`, if that is large: a step over megabytes takes this process tens of
 * milliseconds, and a request of somebody else needs several turns of the event loop to be answered.
 */
export async function pauseForOthers(size: number): Promise<void> {
  if (isLarge(size)) await delay(pauseMs)
}

/**
 * The text in slices, a short one whole, with a pause for others before each. `shorten` is given every slice but the
 * last, and may leave some of its end to the next.
 */
export async function* slicesInTurn(
  text: string,
  shorten = (slice: string) => slice,
): AsyncGenerator<string> {
  for (let start = 0; start < text.length; ) {
    await pauseForOthers(text.length)
    const end = start + stepCharsMax
    const slice = end < text.length ? shorten(text.slice(start, end)) : text.slice(start)
    yield slice
    start += slice.length
  }
}
