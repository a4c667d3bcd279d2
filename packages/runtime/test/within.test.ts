import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { within } from '../src/within.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('gives what is there in time, and no longer holds the process up', async () => {
  expect(await within(100, Promise.resolve('done'))).toBe('done')
  expect(vi.getTimerCount()).toBe(0)
})

test('gives undefined at the limit', async () => {
  const waited = within(100, new Promise(() => undefined))
  await vi.advanceTimersByTimeAsync(99)
  expect(vi.getTimerCount()).toBe(1)
  await vi.runAllTimersAsync()
  expect(await waited).toBeUndefined()
})

test('rejects with its work, and no longer holds the process up', async () => {
  await expect(within(100, Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(vi.getTimerCount()).toBe(0)
})
