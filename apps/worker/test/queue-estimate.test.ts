import { estimateEnd } from '@wagate/shared/queue-estimate'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makePacer } from '../src/outbox/pacer.ts'

const dayMs = 86_400_000
const startMs = 20_000 * dayMs

/** How long the pacer of a sender that has been idle takes for so many messages, with clocks that only it moves. */
function sendAll(
  messages: number,
  given: { ratePerMinute: number; burst: number; dailyCap: number },
  nowMs: number,
  sentToday: number,
) {
  let atMs = nowMs
  const clock = { steadyMs: () => atMs, dateMs: () => atMs, random: () => 0.5 }
  const sent = { sent: sentToday, unanswered: [] }
  const pacer = makePacer({ ...given, newContactsPerDay: 0 }, sent, clock)
  for (let n = 0; n < messages; n++) {
    for (let waitMs = pacer.acquire(`${n}`); waitMs > 0; waitMs = pacer.acquire(`${n}`)) atMs += waitMs
    pacer.confirm(`${n}`)
  }
  return atMs
}

const settings = fc.record({
  messages: fc.integer({ min: 1, max: 3000 }),
  ratePerMinute: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 600 })),
  burst: fc.integer({ min: 1, max: 60 }),
  dailyCap: fc.oneof(fc.constant(0), fc.integer({ min: 50, max: 2000 })),
  sentToday: fc.integer({ min: 0, max: 3000 }),
  intoDayMs: fc.integer({ min: 0, max: dayMs - 1 }),
})

test('the end of a queue is estimated as the pacer then sends it, and never later', () => {
  const ratios: number[] = []
  fc.assert(
    fc.property(settings, ({ messages, sentToday, intoDayMs, ...pacing }) => {
      const nowMs = startMs + intoDayMs
      const tookMs = sendAll(messages, pacing, nowMs, sentToday) - nowMs
      const estimatedMs = estimateEnd(messages, pacing, { nowMs, sentToday }).atMs - nowMs
      // One message may be late by half of the time between two.
      expect(estimatedMs).toBeLessThanOrEqual(tookMs + 1)
      ratios.push(tookMs < 60_000 ? 1 : estimatedMs / tookMs)
    }),
    { numRuns: 300, seed: 47 },
  )
  const near = ratios.filter((ratio) => ratio > 0.85).length
  expect(near / ratios.length).toBeGreaterThan(0.9)
})

test.each([
  [{ ratePerMinute: 60, burst: 1, dailyCap: 0 }, 600, 0, 'pace'],
  [{ ratePerMinute: 60, burst: 20, dailyCap: 500 }, 600, 400, 'cap'],
])('and says what takes so long: %o', (pacing, messages, sentToday, basis) => {
  expect(estimateEnd(messages, pacing, { nowMs: startMs, sentToday }).basis).toBe(basis)
})
