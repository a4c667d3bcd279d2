import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

/** What it needs of the process. */
type Collected = {
  /** `utilization`: the part of the time since the last call that the event loop was busy. */
  readUse(): { utilization: number; heapBytes: number }
  collect(): void
}

const checkMs = 10_000
/**
 * A collection takes 30 to 120 ms of the event loop with 40 MB of heap. Few requests and messages should wait for it, and
 * seldom.
 */
const utilizationMax = 0.25
const checksBetween = 30
/** Each collection has a second one, which finds what the timers of Baileys kept: up to 30 s after a login. */
const checksToSecond = 3
/** An idle process reserves less between two collections of V8. */
const growth = 1.5

/**
 * Returns memory to the operating system when the process has come to rest. A start and the logins of many senders leave
 * garbage, and an idle process allocates too little for V8 to collect it. Without `--expose-gc` it does nothing. Returns a
 * function that stops it.
 */
export function collectAtRest({ readUse, collect }: Collected = ownProcess()): () => void {
  let enoughBytes = 0
  let checksToSkip = 0
  let isSecond = false
  const timer = setInterval(() => {
    const { utilization, heapBytes } = readUse()
    checksToSkip -= 1
    if (checksToSkip > 0 || utilization > utilizationMax || (heapBytes < enoughBytes && !isSecond)) return
    collect()
    checksToSkip = isSecond ? checksBetween : checksToSecond
    isSecond = !isSecond
    enoughBytes = growth * readUse().heapBytes
  }, checkMs)
  timer.unref()
  return () => clearInterval(timer)
}

function ownProcess(): Collected {
  let last: EventLoopUtilization = performance.eventLoopUtilization()
  return {
    readUse() {
      const { utilization } = performance.eventLoopUtilization(last)
      last = performance.eventLoopUtilization()
      return { utilization, heapBytes: getHeapStatistics().total_heap_size }
    },
    collect() {
      globalThis.gc?.()
      // Node 24 keeps freed pages for itself unless memory is short, which this pretends. Node 20 ignores the options.
      globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    },
  }
}
