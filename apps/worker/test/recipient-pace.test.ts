import { expect, test } from 'vitest'
import { makeRecipientPace } from '../src/outbox/pacer.ts'

function makeClock() {
  let passedMs = 0
  return {
    nowMs: () => passedMs,
    pass(ms: number) {
      passedMs += ms
    },
  }
}

test('the next message to a recipient waits for the interval, and those to others do not', () => {
  const clock = makeClock()
  const pace = makeRecipientPace(2000, {}, clock.nowMs)
  expect(pace.waitMs('a')).toBe(0)
  pace.noteSent('a')
  expect([pace.waitMs('a'), pace.waitMs('b')]).toEqual([2000, 0])
  clock.pass(1999)
  expect(pace.waitMs('a')).toBe(1)
  clock.pass(1)
  expect(pace.waitMs('a')).toBe(0)
})

test('counts from the latest message', () => {
  const clock = makeClock()
  const pace = makeRecipientPace(2000, {}, clock.nowMs)
  pace.noteSent('a')
  clock.pass(1500)
  pace.noteSent('a')
  clock.pass(1500)
  pace.noteSent('b')
  expect([pace.waitMs('a'), pace.waitMs('b')]).toEqual([500, 2000])
})

test('goes on with what a former owner has sent', () => {
  const clock = makeClock()
  clock.pass(100_000)
  const pace = makeRecipientPace(2000, { a: 500, b: 1900, c: 5000 }, clock.nowMs)
  expect(['a', 'b', 'c'].map(pace.waitMs)).toEqual([1500, 100, 0])
  clock.pass(200)
  pace.noteSent('d')
  expect(['a', 'b', 'd'].map(pace.waitMs)).toEqual([1300, 0, 2000])
})

test('remembers a bounded number of recipients, the latest ones', () => {
  const pace = makeRecipientPace(2000, {}, makeClock().nowMs)
  for (let n = 0; n <= 10_000; n++) pace.noteSent(`${n}`)
  expect([pace.waitMs('0'), pace.waitMs('1'), pace.waitMs('10000')]).toEqual([0, 2000, 2000])
})

test('nothing waits without an interval', () => {
  const pace = makeRecipientPace(0, { a: 0 }, makeClock().nowMs)
  pace.noteSent('a')
  expect(pace.waitMs('a')).toBe(0)
})
