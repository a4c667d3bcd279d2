import { expect, test } from 'vitest'
import { makeInbox } from '../src/events/inbox.ts'
import { pollUntil } from '../src/events/poll-until.ts'

const neverAborted = new AbortController().signal

test('what becomes readable shortly after a notification is found without waiting for the next second', async () => {
  const startedAt = performance.now()
  for (let round = 0; round < 4; round++) {
    const inbox = makeInbox<true>()
    let polls = 0
    const find = async () => {
      polls += 1
      if (polls === 1) setImmediate(() => inbox.put(true))
      return polls === 4 ? 'found' : undefined
    }
    const wait = { inbox, forMs: 20_000, abort: neverAborted, againAfterMs: [5, 10, 20] }
    expect(await pollUntil(find, wait)).toBe('found')
  }
  // Two polls of each round would come with the next two seconds.
  expect(performance.now() - startedAt).toBeLessThan(4000)
})

test('a notification that finds nothing causes a limited number of polls', async () => {
  const inbox = makeInbox<true>()
  let polls = 0
  const find = async () => {
    polls += 1
    if (polls === 1) setImmediate(() => inbox.put(true))
    return undefined
  }
  await pollUntil(find, { inbox, forMs: 300, abort: neverAborted, againAfterMs: [5, 10] })
  // Besides: one each second, and the last.
  expect(polls).toBeLessThanOrEqual(6)
})

test('a wait that is aborted ends at once', async () => {
  const abort = new AbortController()
  const find = async () => {
    setImmediate(() => abort.abort())
    return undefined
  }
  const startedAt = performance.now()
  const wait = { inbox: makeInbox<true>(), forMs: 20_000, abort: abort.signal, againAfterMs: [] }
  expect(await pollUntil(find, wait)).toBeUndefined()
  expect(performance.now() - startedAt).toBeLessThan(900)
})
