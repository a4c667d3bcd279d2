import type { Pacing } from '@wagate/shared/pacing'
import { describe, expect, it } from 'vitest'
import { makePacer, type Pacer } from '../src/outbox/pacer.ts'

const noon = Date.UTC(2030, 0, 1, 12)
const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** A clock that moves when it is told to, and chance that comes out the same each time. */
function makeClock(startMs = noon) {
  let passedMs = 0
  let state = 1
  return {
    steadyMs: () => passedMs,
    dateMs: () => startMs + passedMs,
    random: () => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    },
    pass(ms: number) {
      passedMs += ms
    },
  }
}

const pacing = (given: Partial<Pacing>): Pacing => ({ ratePerMinute: 0, burst: 1, dailyCap: 0, ...given })

/** When messages leave within this time, from now on, while there is always one waiting. */
function sendFor(pacer: Pacer, clock: ReturnType<typeof makeClock>, forMs: number): number[] {
  const untilMs = clock.steadyMs() + forMs
  const times: number[] = []
  while (clock.steadyMs() < untilMs) {
    const waitMs = pacer.take()
    if (waitMs === 0) times.push(clock.steadyMs())
    else clock.pass(Math.min(waitMs, untilMs - clock.steadyMs()))
  }
  return times
}

describe('a pacer', () => {
  it.each([
    { ratePerMinute: 60, burst: 1 },
    { ratePerMinute: 60, burst: 20 },
    { ratePerMinute: 100, burst: 5 },
    { ratePerMinute: 600, burst: 1 },
    { ratePerMinute: 6000, burst: 50 },
  ])('keeps $ratePerMinute a minute after a burst of $burst, to 5 % in each of ten minutes', (given) => {
    const clock = makeClock()
    const pacer = makePacer(pacing(given), 0, clock)
    const times = sendFor(pacer, clock, 10 * minuteMs)
    expect(times.filter((ms) => ms === 0)).toHaveLength(given.burst)
    const later = times.slice(given.burst)
    for (let minute = 0; minute < 10; minute++) {
      const sent = later.filter((ms) => Math.floor(ms / minuteMs) === minute).length
      expect(Math.abs(sent - given.ratePerMinute) / given.ratePerMinute).toBeLessThanOrEqual(0.05)
    }
  })

  it('keeps a slow rate over an hour', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 2 }), 0, clock)
    expect(sendFor(pacer, clock, hourMs).length).toBeGreaterThanOrEqual(119)
    expect(sendFor(pacer, clock, hourMs).length).toBeLessThanOrEqual(121)
  })

  it('does not keep the beat', () => {
    const clock = makeClock()
    const times = sendFor(makePacer(pacing({ ratePerMinute: 60 }), 0, clock), clock, 10 * minuteMs)
    const gaps = times.slice(1).map((ms, index) => ms - (times[index] ?? 0))
    expect(Math.min(...gaps)).toBeLessThan(700)
    expect(Math.max(...gaps)).toBeGreaterThan(1300)
  })

  it('cannot be hurried by asking often', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 60 }), 0, clock)
    let sent = 0
    for (; clock.steadyMs() < 10 * minuteMs; clock.pass(7)) if (pacer.take() === 0) sent += 1
    expect(sent).toBeGreaterThanOrEqual(599)
    expect(sent).toBeLessThanOrEqual(602)
  })

  it('saves no more than the burst while nothing is sent', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 60, burst: 2 }), 0, clock)
    clock.pass(hourMs)
    expect(sendFor(pacer, clock, 1)).toHaveLength(2)
  })

  it('does not limit at rate 0', () => {
    const pacer = makePacer(pacing({ ratePerMinute: 0 }), 0, makeClock())
    expect(Array.from({ length: 100 }, () => pacer.take()).every((waitMs) => waitMs === 0)).toBe(true)
  })

  it('loses nothing to messages that are canceled', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 1, burst: 1, dailyCap: 1 }), 0, clock)
    for (let n = 0; n < 100; n++) {
      expect(pacer.take()).toBe(0)
      pacer.giveBack()
    }
    expect(pacer.take()).toBe(0)
    expect(pacer.take()).toBeGreaterThan(0)
  })

  it('takes new settings from now on', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 1, burst: 1 }), 0, clock)
    expect(sendFor(pacer, clock, minuteMs / 2)).toHaveLength(1)
    pacer.set(pacing({ ratePerMinute: 600 }), 0)
    const sent = sendFor(pacer, clock, minuteMs).length
    expect(Math.abs(sent - 600)).toBeLessThanOrEqual(30)
    pacer.set(pacing({ ratePerMinute: 0 }), 0)
    for (let n = 0; n < 10_000; n++) expect(pacer.take()).toBe(0)
    pacer.set(pacing({ ratePerMinute: 60 }), 0)
    expect(sendFor(pacer, clock, 10_000).length).toBeGreaterThanOrEqual(9)
  })
})

describe('a daily cap', () => {
  it('counts what the day has seen before, and waits for the next day of UTC', () => {
    const clock = makeClock(noon)
    const pacer = makePacer(pacing({ dailyCap: 10 }), 7, clock)
    expect(sendFor(pacer, clock, hourMs)).toHaveLength(3)
    expect(pacer.take()).toBe(11 * hourMs)
    clock.pass(11 * hourMs - 1)
    expect(pacer.take()).toBe(1)
    clock.pass(1)
    expect(sendFor(pacer, clock, 24 * hourMs)).toHaveLength(10)
  })

  it('that is raised, lowered or taken away counts what was sent already', () => {
    const clock = makeClock(noon)
    const pacer = makePacer(pacing({ dailyCap: 2 }), 0, clock)
    expect(sendFor(pacer, clock, 1)).toHaveLength(2)
    pacer.set(pacing({ dailyCap: 5 }), 2)
    expect(sendFor(pacer, clock, 1)).toHaveLength(3)
    pacer.set(pacing({ dailyCap: 1 }), 5)
    expect(pacer.take()).toBeGreaterThan(0)
    pacer.set(pacing({ dailyCap: 0 }), 0)
    expect(pacer.take()).toBe(0)
  })
})
