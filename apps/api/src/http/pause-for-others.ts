import { setTimeout as delay } from 'node:timers/promises'

const sizeMin = 256 * 1024
const pauseMs = 25

/**
 * Before each step over a text of `size`, if that is large: a step over megabytes takes this process tens of
 * milliseconds, and a request of somebody else needs several turns of the event loop to be answered.
 */
export async function pauseForOthers(size: number): Promise<void> {
  if (size >= sizeMin) await delay(pauseMs)
}
