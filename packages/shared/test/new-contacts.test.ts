import { expect, test } from 'vitest'
import { newContactsAllowed, startOfUtcDay, utcDayOf } from '../src/new-contacts.ts'

const day = utcDayOf(Date.UTC(2030, 0, 1))

/** What a sender is allowed on the days of its warm-up that are named, the first of which is 1. */
const allowedOn = (days: number[], perDay: number, warmUpDays: number) =>
  days.map((n) => newContactsAllowed({ perDay, warmUpDays, warmUpDay: day }, day + n - 1))

test('the budget grows by the same part each day, rounded up, to its full size', () => {
  expect(allowedOn([1, 2, 3, 7, 13, 14, 15, 400], 10, 14)).toEqual([1, 2, 3, 5, 10, 10, 10, 10])
  expect(allowedOn([1, 2, 3, 4, 5], 100, 4)).toEqual([25, 50, 75, 100, 100])
})

test('a day before the first counts as the first', () => {
  expect(allowedOn([0, -30], 10, 14)).toEqual([1, 1])
})

test('without a warm-up the budget is full at once', () => {
  expect(allowedOn([1, 2], 10, 0)).toEqual([10, 10])
})

test('0 is unlimited, also during the warm-up', () => {
  expect(allowedOn([1, 20], 0, 14)).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])
})

test('days begin at midnight UTC', () => {
  expect(utcDayOf(Date.UTC(2030, 0, 1) - 1)).toBe(day - 1)
  expect(startOfUtcDay(day + 1).toISOString()).toBe('2030-01-02T00:00:00.000Z')
})
