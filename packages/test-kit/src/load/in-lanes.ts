/** Does the work for every item, this many at a time; the first failure ends it. */
export async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  async function runLane(): Promise<void> {
    while (next < items.length) {
      const index = next++
      await work(items[index] as Item, index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, runLane))
}
