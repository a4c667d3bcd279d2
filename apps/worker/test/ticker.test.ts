import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type NextRun, startTicker } from '../src/ownership/ticker.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function start(next: NextRun) {
  const runs: number[] = []
  const ticker = startTicker({
    everyMs: 500,
    async run() {
      runs.push(performance.now())
      return next
    },
    onError: (error) => {
      throw error
    },
  })
  const passed = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    return runs.length
  }
  return { ticker, passed }
}

test('runs at once, again and again, and when it is woken', async () => {
  const { ticker, passed } = start({})
  expect(await passed(0)).toBe(1)
  expect(await passed(1000)).toBe(3)
  ticker.wake()
  expect(await passed(0)).toBe(4)
  expect(await passed(499)).toBe(4)
  expect(await passed(1)).toBe(5)
  await ticker.close()
  ticker.wake()
  expect(await passed(5000)).toBe(5)
})

test('runs earlier when the last run asks for it', async () => {
  const { passed } = start({ nextInMs: 10 })
  await passed(0)
  expect(await passed(100)).toBe(11)
})

test('rests after a run, even if it is woken often and work is due', async () => {
  const { ticker, passed } = start({ nextInMs: 0, restMs: 200 })
  await passed(0)
  for (let ms = 0; ms < 1000; ms += 10) {
    ticker.wake()
    await passed(10)
  }
  expect(await passed(0)).toBe(6)
})

test('rests for longer than its period when the last run says so', async () => {
  const { passed } = start({ restMs: 1000 })
  await passed(0)
  expect(await passed(999)).toBe(1)
  expect(await passed(1)).toBe(2)
})
