import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FairSemaphore, makeFairSemaphore } from '../src/fair-semaphore.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Has `release` once it has been granted. */
function demand(semaphore: FairSemaphore, key: string, units: number) {
  const granted: { release?: () => void } = {}
  void semaphore.acquire(key, units).then((release) => {
    granted.release = release
  })
  return granted
}

describe('a fair semaphore', () => {
  it('leaves the rest to others when one key has used up its share', async () => {
    const semaphore = makeFairSemaphore(10, { shareMax: 5 })
    const greedy = [3, 2, 1].map((units) => demand(semaphore, 'greedy', units))
    const other = demand(semaphore, 'other', 5)
    await turn()
    expect(greedy.map(({ release }) => release !== undefined)).toEqual([true, true, false])
    expect(other.release).toBeDefined()
    greedy[1]?.release?.()
    await turn()
    expect(greedy[2]?.release).toBeDefined()
  })

  it('tells whether a key itself has used up its share', async () => {
    const semaphore = makeFairSemaphore(10, { shareMax: 5 })
    for (const key of ['one', 'other']) await semaphore.acquire(key, 4)
    expect(semaphore.isShareUsedUp('one', 1)).toBe(false)
    expect(semaphore.isShareUsedUp('one', 2)).toBe(true)
    expect(semaphore.isShareUsedUp('third', 5)).toBe(false)
    expect(semaphore.isShareUsedUp('third', 50)).toBe(false)
  })

  it('grants waiting keys in turn, each one in the order of its demands', async () => {
    const semaphore = makeFairSemaphore(1, { shareMax: 1 })
    let release = await semaphore.acquire('first', 1)
    const order: string[] = []
    const demands = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) =>
      semaphore.acquire(name.charAt(0), 1).then((granted) => {
        order.push(name)
        release = granted
      }),
    )
    for (const _ of demands) {
      release()
      await turn()
    }
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  it('lets no small demand overtake a large one that has its turn', async () => {
    const semaphore = makeFairSemaphore(10, { shareMax: 8 })
    const release = await semaphore.acquire('first', 4)
    const large = demand(semaphore, 'large', 8)
    const small = demand(semaphore, 'small', 1)
    await turn()
    expect(semaphore.tryAcquire('another', 1)).toBeUndefined()
    expect([large.release, small.release]).toEqual([undefined, undefined])
    release()
    await turn()
    expect(large.release).toBeDefined()
    expect(small.release).toBeDefined()
  })

  it('lets a demand above the share have the whole share', async () => {
    const semaphore = makeFairSemaphore(10, { shareMax: 4 })
    const small = await semaphore.acquire('a', 1)
    const large = demand(semaphore, 'a', 100)
    await turn()
    expect(large.release).toBeUndefined()
    small()
    await turn()
    expect(large.release).toBeDefined()
    expect(semaphore.tryAcquire('a', 1)).toBeUndefined()
    expect(semaphore.tryAcquire('b', 4)).toBeDefined()
  })

  it('takes units back once, however often they are released', async () => {
    const semaphore = makeFairSemaphore(2, { shareMax: 1 })
    const release = await semaphore.acquire('a', 1)
    release()
    release()
    expect(semaphore.tryAcquire('a', 1)).toBeDefined()
    expect(semaphore.tryAcquire('b', 1)).toBeDefined()
    expect(semaphore.tryAcquire('c', 1)).toBeUndefined()
  })

  it('forgets a demand whose signal is aborted, and grants the next', async () => {
    const semaphore = makeFairSemaphore(2, { shareMax: 2 })
    const release = await semaphore.acquire('a', 1)
    const impatient = new AbortController()
    const large = semaphore.acquire('b', 2, impatient.signal)
    const small = demand(semaphore, 'c', 1)
    impatient.abort(new Error('no longer'))
    await expect(large).rejects.toThrow('no longer')
    await turn()
    expect(small.release).toBeDefined()
    release()
    await expect(semaphore.acquire('a', 1, impatient.signal)).rejects.toThrow('no longer')
    expect(semaphore.tryAcquire('a', 1)).toBeDefined()
  })

  it('keeps total and shares, and grants every demand in the end', async () => {
    const demands = fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b', 'c'),
        units: fc.integer({ min: 1, max: 12 }),
        /** Of what is held then; out of range releases nothing. */
        releases: fc.integer({ min: 0, max: 6 }),
      }),
      { maxLength: 40 },
    )
    await fc.assert(
      fc.asyncProperty(demands, async (steps) => {
        const [total, shareMax] = [10, 6]
        const semaphore = makeFairSemaphore(total, { shareMax })
        const held = new Map<() => void, { key: string; units: number }>()
        let granted = 0
        const check = () => {
          const unitsOf = (of?: string) =>
            [...held.values()].reduce((sum, { key, units }) => sum + (!of || of === key ? units : 0), 0)
          // Tens of thousands of calls of `expect` would take seconds.
          if (unitsOf() <= total && [...'abc'].every((key) => unitsOf(key) <= shareMax)) return
          throw new Error(`Too much is held: ${JSON.stringify([...held.values()])}`)
        }
        const release = async (nth: number) => {
          const [free] = [...held.keys()].slice(nth)
          if (free) held.delete(free)
          free?.()
          await Promise.resolve()
          check()
        }
        for (const { key, units, releases } of steps) {
          void semaphore.acquire(key, units).then((free) => {
            granted += 1
            held.set(free, { key, units: Math.min(units, shareMax) })
          })
          await turn()
          await release(releases)
        }
        for (let rounds = 0; granted < steps.length && rounds <= steps.length; rounds++) {
          await release(0)
          await turn()
        }
        expect(granted).toBe(steps.length)
      }),
      { numRuns: 200 },
    )
  })
})
