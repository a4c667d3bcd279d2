import type { Pacing } from '@wagate/shared/pacing'
import { makeRandom } from '@wagate/test-kit/random'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makePacer, type Pacer } from '../src/outbox/pacer.ts'

const noon = Date.UTC(2030, 0, 1, 12)
const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** A clock that a test moves, and random numbers that are the same in each run. */
function makeClock(startMs = noon) {
  let passedMs = 0
  return {
    steadyMs: () => passedMs,
    dateMs: () => startMs + passedMs,
    random: makeRandom(1),
    pass(ms: number) {
      passedMs += ms
    },
  }
}

const pacing = (given: Partial<Pacing>): Pacing => ({
  ratePerMinute: 0,
  burst: 1,
  dailyCap: 0,
  newContactsPerDay: 0,
  ...given,
})
const nothingSent = { sent: 0, unanswered: [] }

let messages = 0
const newMessage = () => `3EB0${++messages}`

/** Sends a message that is answered at once, if it may go. */
function takeNext(pacer: Pacer): number {
  const waId = newMessage()
  const waitMs = pacer.acquire(waId)
  if (waitMs === 0) pacer.confirm(waId)
  return waitMs
}

/** When messages leave within this time, from now on, while there is always one waiting. */
function sendFor(pacer: Pacer, clock: ReturnType<typeof makeClock>, forMs: number): number[] {
  const untilMs = clock.steadyMs() + forMs
  const times: number[] = []
  while (clock.steadyMs() < untilMs) {
    const waitMs = takeNext(pacer)
    if (waitMs === 0) times.push(clock.steadyMs())
    else clock.pass(Math.min(waitMs, untilMs - clock.steadyMs()))
  }
  return times
}

describe('a pacer', () => {
  test.each([
    { ratePerMinute: 60, burst: 1 },
    { ratePerMinute: 60, burst: 20 },
    { ratePerMinute: 100, burst: 5 },
    { ratePerMinute: 600, burst: 1 },
    { ratePerMinute: 6000, burst: 50 },
  ])('keeps $ratePerMinute a minute after a burst of $burst, to 5 % in each of ten minutes', (given) => {
    const clock = makeClock()
    const pacer = makePacer(pacing(given), nothingSent, clock)
    const times = sendFor(pacer, clock, 10 * minuteMs)
    expect(times.filter((ms) => ms === 0)).toHaveLength(given.burst)
    const later = times.slice(given.burst)
    for (let minute = 0; minute < 10; minute++) {
      const sent = later.filter((ms) => Math.floor(ms / minuteMs) === minute).length
      expect(Math.abs(sent - given.ratePerMinute) / given.ratePerMinute).toBeLessThanOrEqual(0.05)
    }
  })

  test('keeps a slow rate over an hour', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 2 }), nothingSent, clock)
    expect(sendFor(pacer, clock, hourMs).length).toBeGreaterThanOrEqual(119)
    expect(sendFor(pacer, clock, hourMs).length).toBeLessThanOrEqual(121)
  })

  test('varies the time between messages', () => {
    const clock = makeClock()
    const times = sendFor(makePacer(pacing({ ratePerMinute: 60 }), nothingSent, clock), clock, 10 * minuteMs)
    const gaps = times.slice(1).map((ms, index) => ms - (times[index] ?? 0))
    expect(Math.min(...gaps)).toBeLessThan(700)
    expect(Math.max(...gaps)).toBeGreaterThan(1300)
  })

  test('does not send faster when it is asked often', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 60 }), nothingSent, clock)
    let sent = 0
    for (; clock.steadyMs() < 10 * minuteMs; clock.pass(7)) if (takeNext(pacer) === 0) sent += 1
    expect(sent).toBeGreaterThanOrEqual(599)
    expect(sent).toBeLessThanOrEqual(602)
  })

  test('saves no more than the burst while nothing is sent', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 60, burst: 2 }), nothingSent, clock)
    clock.pass(hourMs)
    expect(sendFor(pacer, clock, 1)).toHaveLength(2)
  })

  test('does not limit at rate 0', () => {
    const pacer = makePacer(pacing({ ratePerMinute: 0 }), nothingSent, makeClock())
    expect(Array.from({ length: 100 }, () => takeNext(pacer)).every((waitMs) => waitMs === 0)).toBe(true)
  })

  test('does not charge for messages that are canceled', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 1, burst: 1, dailyCap: 1 }), nothingSent, clock)
    for (let n = 0; n < 100; n++) {
      const canceled = newMessage()
      expect(pacer.acquire(canceled)).toBe(0)
      pacer.release(canceled)
    }
    expect(takeNext(pacer)).toBe(0)
    expect(takeNext(pacer)).toBeGreaterThan(0)
  })

  test('applies new settings from now on', () => {
    const clock = makeClock()
    const pacer = makePacer(pacing({ ratePerMinute: 1, burst: 1 }), nothingSent, clock)
    expect(sendFor(pacer, clock, minuteMs / 2)).toHaveLength(1)
    pacer.set(pacing({ ratePerMinute: 600 }))
    const sent = sendFor(pacer, clock, minuteMs).length
    expect(Math.abs(sent - 600)).toBeLessThanOrEqual(30)
    pacer.set(pacing({ ratePerMinute: 0 }))
    for (let n = 0; n < 10_000; n++) expect(takeNext(pacer)).toBe(0)
    pacer.set(pacing({ ratePerMinute: 60 }))
    expect(sendFor(pacer, clock, 10_000).length).toBeGreaterThanOrEqual(9)
  })
})

describe('a daily cap', () => {
  test('counts what was sent earlier in the day, and waits for the next UTC day', () => {
    const clock = makeClock(noon)
    const pacer = makePacer(pacing({ dailyCap: 10 }), { sent: 7, unanswered: [] }, clock)
    expect(sendFor(pacer, clock, hourMs)).toHaveLength(3)
    expect(takeNext(pacer)).toBe(11 * hourMs)
    clock.pass(11 * hourMs - 1)
    expect(takeNext(pacer)).toBe(1)
    clock.pass(1)
    expect(sendFor(pacer, clock, 24 * hourMs)).toHaveLength(10)
  })

  test('that is raised, lowered or removed counts what was sent already', () => {
    const clock = makeClock(noon)
    const pacer = makePacer(pacing({ dailyCap: 2 }), nothingSent, clock)
    expect(sendFor(pacer, clock, 1)).toHaveLength(2)
    pacer.set(pacing({ dailyCap: 5 }))
    expect(sendFor(pacer, clock, 1)).toHaveLength(3)
    pacer.set(pacing({ dailyCap: 1 }))
    expect(takeNext(pacer)).toBeGreaterThan(0)
    pacer.set(pacing({ dailyCap: 0 }))
    expect(takeNext(pacer)).toBe(0)
  })
  test('counts a message once, however often it is sent until WhatsApp answers', () => {
    const pacer = makePacer(pacing({ dailyCap: 2 }), nothingSent, makeClock())
    const [first, second] = [newMessage(), newMessage()]
    for (const waId of [first, second, first, second, first]) expect(pacer.acquire(waId)).toBe(0)
    expect(takeNext(pacer)).toBeGreaterThan(0)
    // Somebody else has recorded it meanwhile: this attempt did not leave, the earlier ones did.
    pacer.release(first)
    pacer.confirm(second)
    pacer.confirm(second)
    expect(takeNext(pacer)).toBeGreaterThan(0)
  })

  test('counts unanswered messages of a former owner', () => {
    const pacer = makePacer(pacing({ dailyCap: 3 }), { sent: 1, unanswered: ['3EB0A', '3EB0B'] }, makeClock())
    expect(takeNext(pacer)).toBeGreaterThan(0)
    expect(pacer.acquire('3EB0B')).toBe(0)
    pacer.confirm('3EB0A')
    expect(takeNext(pacer)).toBeGreaterThan(0)
  })

  test('counts messages without an answer at midnight on the next day as well', () => {
    const clock = makeClock(noon)
    const pacer = makePacer(pacing({ dailyCap: 3 }), nothingSent, clock)
    const [answered, unanswered] = [newMessage(), newMessage()]
    for (const waId of [answered, unanswered]) pacer.acquire(waId)
    pacer.confirm(answered)
    clock.pass(12 * hourMs)
    pacer.confirm(unanswered)
    expect(sendFor(pacer, clock, 1)).toHaveLength(2)
  })

  test('is never exceeded by messages that are resent, canceled or answered, nor by a new configuration', () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constantFrom('take', 'cancel', 'answer'), message: fc.nat(9) }),
      fc.record({ kind: fc.constant('cap'), message: fc.integer({ min: 1, max: 6 }) }),
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const pacer = makePacer(pacing({ dailyCap: 3 }), nothingSent, makeClock())
        const left = new Set<number>()
        const answered = new Set<number>()
        let cap = 3
        for (const { kind, message } of actions) {
          if (kind === 'cap') {
            cap = message
            pacer.set(pacing({ dailyCap: cap }))
          } else if (kind === 'answer') {
            pacer.confirm(String(message))
            if (left.has(message)) answered.add(message)
          } else if (!answered.has(message) && pacer.acquire(String(message)) === 0) {
            if (kind === 'cancel') pacer.release(String(message))
            else if (!left.has(message)) expect(left.add(message).size).toBeLessThanOrEqual(cap)
          }
        }
      }),
    )
  })
})
