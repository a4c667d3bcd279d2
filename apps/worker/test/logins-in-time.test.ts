import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SocketEnd } from '../src/session/connection/socket-end.ts'
import { DeviceInTime, type Disturbance } from './device-in-time.ts'
import { banFor, endWith } from './socket-ends.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const disturbances = (...kinds: Disturbance[]) =>
  fc.array(fc.tuple(fc.integer({ min: 0, max: dayMs }), fc.constantFrom(...kinds)), { maxLength: 60 })

/** A day in which every login is refused. */
function spend(
  answer: (atMs: number) => SocketEnd,
  events: [number, Disturbance][],
  options = {},
): DeviceInTime {
  const device = new DeviceInTime(answer, options)
  for (const [atMs, kind] of events.toSorted(([one], [other]) => one - other)) device.go(atMs, kind)
  device.go(dayMs, 'waited')
  return device
}

function forEachDay(
  events: ReturnType<typeof disturbances>,
  check: (events: [number, Disturbance][]) => void,
): void {
  fc.assert(fc.property(events, check), { numRuns: 300 })
}

/** Everything but a step of the user. */
const usual = disturbances('wake', 'waited', 'takeover', 'restart', 'restart-session')

test('a day of bans of six hours each has exactly the permitted logins', () => {
  const permitted = [0, 1, 2, 3].map((n) => n * (6 * hourMs + 1000))
  const withUpdates = disturbances('wake', 'takeover', 'restart', 'restart-session', 'update')
  forEachDay(withUpdates, (events) => {
    expect(spend(() => banFor(6 * hourMs, '101'), events).logins).toEqual(permitted)
  })
})

test('a ban without an end that WhatsApp names lasts for six hours as well', () => {
  forEachDay(usual, (events) => {
    expect(spend(() => banFor(null), events).logins).toEqual([0, 6, 12, 18, 24].map((n) => n * hourMs))
  })
})

test('a banned number is not logged in to log it out: its credentials are wiped', () => {
  forEachDay(usual, (events) => {
    const device = spend(() => banFor(30 * hourMs), [...events, [20 * hourMs, 'logout']])
    expect(device).toMatchObject({ isWiped: true, logins: [0] })
  })
})

test('a block counts for the worker that knows of it before it is stored', () => {
  const options = { canStore: false }
  forEachDay(disturbances('wake', 'waited'), (events) => {
    expect(spend(() => banFor(30 * hourMs), events, options).logins).toEqual([0])
    expect(spend(() => endWith(403), events, options).logins).toEqual([0])
    const loggedOut = spend(() => banFor(30 * hourMs), [...events, [20 * hourMs, 'logout']], options)
    expect(loggedOut).toMatchObject({ isWiped: true, logins: [0] })
  })
})

test.each([403, 406])('after %s there is one login, and one more for a logout', (code) => {
  forEachDay(disturbances('wake', 'waited', 'takeover', 'restart', 'restart-session', 'update'), (events) => {
    expect(spend(() => endWith(code), events)).toMatchObject({ isWiped: false, logins: [0] })
    const loggedOut = spend(() => endWith(code), [...events, [20 * hourMs, 'logout']])
    expect(loggedOut).toMatchObject({ isWiped: true, logins: [0, 20 * hourMs] })
  })
})

test.each([
  [405, 'update'],
  [405, 'new-version'],
  [409, 'update'],
  [409, 'new-version'],
] as const)('after %s there is a login every hour, and one for another version (%s)', (code, change) => {
  const hours = Array.from({ length: 25 }, (_, n) => n * hourMs)
  forEachDay(usual, (events) => {
    expect(spend(() => endWith(code), events).logins).toEqual(hours)
    const updated = spend(() => endWith(code), [...events, [90 * minuteMs, change]])
    const after = hours.slice(1).map((ms) => ms + 30 * minuteMs)
    expect(updated.logins).toEqual([0, hourMs, ...after].filter((ms) => ms <= dayMs))
  })
})

test('after 411 there is a login every hour', () => {
  forEachDay(usual, (events) => {
    const { logins } = spend(() => endWith(411), events)
    expect(logins).toEqual(Array.from({ length: 25 }, (_, n) => n * hourMs))
  })
})

test.each([400, 418, 429, 500, 503])(
  'after %s there are ever fewer logins, but at least two an hour',
  (code) => {
    forEachDay(disturbances('wake', 'waited'), (events) => {
      const { logins } = spend(() => endWith(code), events)
      for (let hour = 1; hour < 24; hour++) {
        const inHour = logins.filter((ms) => ms >= hour * hourMs && ms < (hour + 1) * hourMs)
        expect(inHour.length).toBeGreaterThanOrEqual(2)
        expect(inHour.length).toBeLessThanOrEqual(7)
      }
      expect(logins.filter((ms) => ms < minuteMs).length).toBeGreaterThan(4)
    })
  },
)

test('a network that is away all day is tried at least every half minute', () => {
  const { logins } = spend(() => endWith(428), [])
  const pauses = logins.slice(1).map((ms, index) => ms - (logins[index] ?? 0))
  expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(980)
})
