type Waiting<Item, Result> = {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

export type NaturalBatch<Item, Result> = {
  add(item: Item): Promise<Result>
  /** The item may wait up to `deferMs` for others. It goes with the next item that is not deferred. */
  addDeferred(item: Item): Promise<Result>
}

export type NaturalBatchOptions = {
  itemsMax: number
  wholeMax?: number
  deferMs?: number
  isOfOneItem?: (error: unknown) => boolean
}

/**
 * One flush in flight. Items that arrive meanwhile go into the next, in order. Latency stays that of
 * one flush when idle, throughput that of a bulk statement under load. The items of one turn of the event loop
 * go together, but only half of them if they are more than `wholeMax`: with all of them in flight, nothing would be left to do
 * until they are back. `flush` answers in the order of its items. If it fails with an error that one of them may have
 * caused (`isOfOneItem`), they are flushed one by one, and only that one fails.
 */
export function makeNaturalBatch<Item, Result>(
  flush: (items: Item[]) => Promise<Result[]>,
  { itemsMax, wholeMax = itemsMax, deferMs = 0, isOfOneItem = () => false }: NaturalBatchOptions,
): NaturalBatch<Item, Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isFlushing = false
  /** At least one of the waiting items must be flushed now. */
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  async function flushAll(): Promise<void> {
    if (isFlushing) return
    isFlushing = true
    while (isDue) await settle(take())
    isFlushing = false
  }

  async function settle(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await flush(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
    } catch (error) {
      if (batch.length > 1 && isOfOneItem(error)) for (const one of batch) await settle([one])
      else for (const { reject } of batch) reject(error)
    }
  }

  function take(): Waiting<Item, Result>[] {
    const size = Math.min(Math.max(wholeMax, Math.ceil(waiting.length / 2)), itemsMax)
    const batch = waiting.slice(0, size)
    waiting = waiting.slice(size)
    if (waiting.length === 0) {
      isDue = false
      clearTimeout(timer)
      timer = undefined
    }
    return batch
  }

  function becomeDue(): void {
    if (isDue) return
    isDue = true
    if (!isFlushing) setImmediate(() => void flushAll())
  }

  const enqueue = (item: Item) =>
    new Promise<Result>((resolve, reject) => waiting.push({ item, resolve, reject }))

  return {
    add(item) {
      becomeDue()
      return enqueue(item)
    },
    addDeferred(item) {
      timer ??= setTimeout(becomeDue, deferMs)
      return enqueue(item)
    },
  }
}
