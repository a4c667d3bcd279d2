import { expect, test } from 'vitest'
import { makeInbox } from '../src/events/inbox.ts'

test('a wait never ends early, which would cause one more poll', async () => {
  const earlyByMs = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const forMs = 1 + index / 7
      const startedAt = performance.now()
      await makeInbox().take(forMs)
      return forMs - (performance.now() - startedAt)
    }),
  )
  expect(Math.max(...earlyByMs)).toBeLessThanOrEqual(0)
})
