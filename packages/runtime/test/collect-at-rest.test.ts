import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { collectAtRest } from '../src/collect-at-rest.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('garbage is collected at rest only, and again after 5 minutes if the heap has grown by half', () => {
  const use = { utilization: 0.5, heapBytes: 200 }
  let collections = 0
  const stop = collectAtRest({
    readUse: () => use,
    collect() {
      collections += 1
      use.heapBytes = 100
    },
  })
  const after = (ms: number, changes: Partial<typeof use> = {}) => {
    Object.assign(use, changes)
    vi.advanceTimersByTime(ms)
    return collections
  }
  expect(after(10_000)).toBe(0)
  expect(after(10_000, { utilization: 0.01 })).toBe(1)
  expect(after(20_000)).toBe(1)
  expect(after(10_000)).toBe(2)
  expect(after(290_000, { heapBytes: 160 })).toBe(2)
  expect(after(10_000, { heapBytes: 140 })).toBe(2)
  expect(after(10_000, { heapBytes: 160, utilization: 0.5 })).toBe(2)
  expect(after(10_000, { utilization: 0.01 })).toBe(3)
  expect(after(20_000, { heapBytes: 200 })).toBe(3)
  expect(after(10_000)).toBe(4)
  stop()
  expect(after(600_000, { heapBytes: 1000 })).toBe(4)
})
