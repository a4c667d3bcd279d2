type Waiting<Item, Result> = {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * One flush in flight. Items that arrive meanwhile go into the next, in order. Latency stays that of
 * one flush when idle, throughput that of a bulk statement under load. The items of one turn of the event loop
 * go together, but only half of them if they are more than `wholeMax`: with all of them in flight, nothing would be left to do
 * until they are back. `flush` answers in the order of its items.
 */
export function makeNaturalBatch<Item, Result>(
  flush: (items: Item[]) => Promise<Result[]>,
  { itemsMax, wholeMax = itemsMax }: { itemsMax: number; wholeMax?: number },
): { add(item: Item): Promise<Result> } {
  let waiting: Waiting<Item, Result>[] = []
  let isFlushing = false

  async function flushAll(): Promise<void> {
    isFlushing = true
    while (waiting.length > 0) {
      const size = Math.min(Math.max(wholeMax, Math.ceil(waiting.length / 2)), itemsMax)
      const batch = waiting.slice(0, size)
      waiting = waiting.slice(size)
      try {
        const results = await flush(batch.map(({ item }) => item))
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isFlushing = false
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        if (waiting.length === 1 && !isFlushing) setImmediate(() => isFlushing || void flushAll())
      }),
  }
}
