import { expect, it } from 'vitest'
import { makeSemaphore } from '../src/semaphore.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Notes which of the demands have been granted so far. */
function demand(semaphore: ReturnType<typeof makeSemaphore>, units: number) {
  const held: { release?: () => void } = {}
  void semaphore.acquire(units).then((release) => {
    held.release = release
  })
  return held
}

it('hands out no more than it has, first come first served', async () => {
  const semaphore = makeSemaphore(4)
  const demands = [3, 2, 1].map((units) => demand(semaphore, units))
  await turn()
  // The third would fit, but the second came first.
  expect(demands.map(({ release }) => release !== undefined)).toEqual([true, false, false])
  demands[0]?.release?.()
  await turn()
  expect(demands.every(({ release }) => release !== undefined)).toBe(true)
})

it('is idle while no unit is in use', async () => {
  const semaphore = makeSemaphore(2)
  expect(semaphore.isIdle()).toBe(true)
  const release = await semaphore.acquire(1)
  expect(semaphore.isIdle()).toBe(false)
  release()
  expect(semaphore.isIdle()).toBe(true)
})

it('takes units back once, however often they are given back', async () => {
  const semaphore = makeSemaphore(1)
  const first = demand(semaphore, 1)
  await turn()
  first.release?.()
  first.release?.()
  const [second, third] = [demand(semaphore, 1), demand(semaphore, 1)]
  await turn()
  expect([second.release !== undefined, third.release !== undefined]).toEqual([true, false])
})

it('lets a demand above the total have all of it, alone', async () => {
  const semaphore = makeSemaphore(2)
  const small = demand(semaphore, 1)
  const large = demand(semaphore, 100)
  await turn()
  expect(large.release).toBeUndefined()
  small.release?.()
  await turn()
  expect(large.release).toBeDefined()
})

it('grants units at once if they are free, but never before earlier callers that wait', async () => {
  const semaphore = makeSemaphore(3)
  const release = semaphore.tryAcquire(2)
  expect(release).toBeDefined()
  expect(semaphore.tryAcquire(2)).toBeUndefined()
  demand(semaphore, 2)
  expect(semaphore.tryAcquire(1)).toBeUndefined()
  release?.()
  expect(semaphore.tryAcquire(1)).toBeDefined()
})

it('forgets who no longer wants to wait', async () => {
  const semaphore = makeSemaphore(2)
  const release = await semaphore.acquire(1)
  const impatient = new AbortController()
  const large = semaphore.acquire(2, impatient.signal)
  const small = demand(semaphore, 1)
  impatient.abort(new Error('no longer'))
  await expect(large).rejects.toThrow('no longer')
  expect(small.release).toBeDefined()
  release()
  small.release?.()
  expect(semaphore.tryAcquire(2)).toBeDefined()
  await expect(semaphore.acquire(1, impatient.signal)).rejects.toThrow('no longer')
})
