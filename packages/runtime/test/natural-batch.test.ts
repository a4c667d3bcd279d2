import { describe, expect, it, vi } from 'vitest'
import { makeNaturalBatch } from '../src/natural-batch.ts'

function makeGatedFlush() {
  const flushes: { items: number[]; finish: () => void; fail: (error: Error) => void }[] = []
  const flush = (items: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      flushes.push({ items, finish: () => resolve(items.map((item) => `done ${item}`)), fail: reject })
    })
  return { flushes, flush }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('a natural batch', () => {
  it('sends what arrived during a flush as the next one, in order', async () => {
    const { flushes, flush } = makeGatedFlush()
    const batch = makeNaturalBatch(flush, { itemsMax: 10 })
    const first = batch.add(1)
    await nextTurn()
    const others = [batch.add(2), batch.add(3)]
    await nextTurn()
    expect(flushes.map(({ items }) => items)).toEqual([[1]])
    flushes[0]?.finish()
    expect(await first).toBe('done 1')
    await nextTurn()
    expect(flushes.map(({ items }) => items)).toEqual([[1], [2, 3]])
    flushes[1]?.finish()
    expect(await Promise.all(others)).toEqual(['done 2', 'done 3'])
  })

  it('keeps a flush within its size', async () => {
    const { flushes, flush } = makeGatedFlush()
    const batch = makeNaturalBatch(flush, { itemsMax: 2 })
    const added = [1, 2, 3].map(batch.add)
    await nextTurn()
    flushes[0]?.finish()
    await nextTurn()
    flushes[1]?.finish()
    expect(await Promise.all(added)).toEqual(['done 1', 'done 2', 'done 3'])
    expect(flushes.map(({ items }) => items)).toEqual([[1, 2], [3]])
  })

  it('sends half of many, in pieces that are not too small', async () => {
    const { flushes, flush } = makeGatedFlush()
    const batch = makeNaturalBatch(flush, { itemsMax: 10, wholeMax: 3 })
    for (const item of Array(11).keys()) void batch.add(item)
    for (let index = 0; index < 4; index++) {
      await nextTurn()
      flushes[index]?.finish()
    }
    expect(flushes.map(({ items }) => items)).toEqual([
      [0, 1, 2, 3, 4, 5],
      [6, 7, 8],
      [9, 10],
    ])
  })

  it('flushes one by one what may have failed because of one item', async () => {
    const flushed: number[][] = []
    const flush = async (items: number[]) => {
      flushed.push(items)
      if (items.includes(2)) throw new Error('two')
      return items
    }
    const batch = makeNaturalBatch(flush, {
      itemsMax: 10,
      isOfOneItem: (error) => error instanceof Error && error.message === 'two',
    })
    const added = await Promise.allSettled([1, 2, 3].map(batch.add))
    expect(added.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(flushed).toEqual([[1, 2, 3], [1], [2], [3]])
  })

  it('sends a deferred item with the next item that is not deferred', async () => {
    const { flushes, flush } = makeGatedFlush()
    const batch = makeNaturalBatch(flush, { itemsMax: 10, deferMs: 60_000 })
    void batch.addDeferred(1)
    await nextTurn()
    await nextTurn()
    expect(flushes).toEqual([])
    void batch.addDeferred(2)
    void batch.add(3)
    await nextTurn()
    void batch.addDeferred(4)
    flushes[0]?.finish()
    await nextTurn()
    await nextTurn()
    expect(flushes.map(({ items }) => items)).toEqual([[1, 2, 3]])
    void batch.add(5)
    await nextTurn()
    expect(flushes[1]?.items).toEqual([4, 5])
  })

  it('sends deferred items when the first has waited long enough', async () => {
    const { flushes, flush } = makeGatedFlush()
    const batch = makeNaturalBatch(flush, { itemsMax: 1, deferMs: 20 })
    const added = [batch.addDeferred(1), batch.addDeferred(2)]
    for (const expected of [[1], [2]]) {
      await vi.waitFor(() => expect(flushes.at(-1)?.items).toEqual(expected))
      flushes.at(-1)?.finish()
    }
    expect(await Promise.all(added)).toEqual(['done 1', 'done 2'])
    const later = batch.addDeferred(3)
    await vi.waitFor(() => expect(flushes.at(-1)?.items).toEqual([3]))
    flushes.at(-1)?.finish()
    expect(await later).toBe('done 3')
  })

  it('rejects the items of a failed flush and goes on with the next', async () => {
    const { flushes, flush } = makeGatedFlush()
    const batch = makeNaturalBatch(flush, { itemsMax: 1 })
    const [first, second] = [batch.add(1), batch.add(2)]
    await nextTurn()
    flushes[0]?.fail(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await nextTurn()
    flushes[1]?.finish()
    expect(await second).toBe('done 2')
  })
})
