import { describe, expect, it } from 'vitest'
import { makePacer } from '../src/outbox/pacer.ts'

/** How many messages leave within this time when there is always one waiting. */
function countSent(pacer: ReturnType<typeof makePacer>, forMs: number): number {
  let sent = 0
  let nowMs = 0
  while (nowMs <= forMs) {
    const waitMs = pacer.take(nowMs)
    if (waitMs === 0) sent += 1
    nowMs += waitMs
  }
  return sent
}

describe('a pacer', () => {
  it('lets the burst go at once and then keeps the rate', () => {
    const pacer = makePacer({ ratePerMinute: 60, burst: 20 }, 0)
    expect(countSent(pacer, 0)).toBe(20)
    expect(countSent(makePacer({ ratePerMinute: 60, burst: 20 }, 0), 60_000)).toBe(80)
  })

  it('saves no more than the burst while nothing is sent', () => {
    const pacer = makePacer({ ratePerMinute: 60, burst: 2 }, 0)
    expect([0, 0, 0].map(() => pacer.take(3_600_000))).toEqual([0, 0, 1000])
  })

  it('does not limit at rate 0', () => {
    const pacer = makePacer({ ratePerMinute: 0, burst: 1 }, 0)
    expect(Array.from({ length: 100 }, () => pacer.take(0)).every((waitMs) => waitMs === 0)).toBe(true)
  })
})
