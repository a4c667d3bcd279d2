import { expect, test } from 'vitest'
import { pollUntil } from '../src/events/poll-until.ts'
import { makeSignal } from '../src/events/signal.ts'

const neverAborted = new AbortController().signal

test('what becomes readable shortly after a notification is found without waiting for the next second', async () => {
  const startedAt = performance.now()
  for (let round = 0; round < 4; round++) {
    const signal = makeSignal()
    let polls = 0
    const find = async () => {
      polls += 1
      if (polls === 1) setImmediate(signal.notify)
      return polls === 4 ? 'found' : undefined
    }
    const wait = { signal, forMs: 20_000, abort: neverAborted, againAfterMs: [5, 10, 20] }
    expect(await pollUntil(find, wait)).toBe('found')
  }
  // Two polls of each round would come with the next two seconds.
  expect(performance.now() - startedAt).toBeLessThan(4000)
})

test('a notification that finds nothing causes a limited number of polls', async () => {
  const signal = makeSignal()
  let polls = 0
  const find = async () => {
    polls += 1
    if (polls === 1) setImmediate(signal.notify)
    return undefined
  }
  await pollUntil(find, { signal, forMs: 300, abort: neverAborted, againAfterMs: [5, 10] })
  // Besides: one each second, and the last.
  expect(polls).toBeLessThanOrEqual(6)
})
