import { describe, expect, test, vi } from 'vitest'
import type { z } from 'zod'
import { password } from '../src/credentials/passwords.ts'
import { flag, integer, moment, phone, recordId, text } from '../src/parameters/parameter-types.ts'

const invalid = Symbol('invalid')
const parse = (type: z.ZodType, value: unknown) => {
  const result = type.safeParse(value)
  return result.success ? result.data : invalid
}

test.each([
  ['4915112345678', '4915112345678'],
  [4915112345678, '4915112345678'],
  ['+49 (151) 123-456.78', '4915112345678'],
  ['004915112345678', '4915112345678'],
  ['5215512345678', '5215512345678'],
  ['123456', invalid],
  ['1234567', '1234567'],
  ['123456789012345', '123456789012345'],
  ['1234567890123456', invalid],
  ['015112345678', invalid],
  ['4915112345678@s.whatsapp.net', invalid],
  ['٤٩١٥١١٢٣٤٥٦٧٨', '4915112345678'],
  ['\u202A+49 151 12345678\u202C', '4915112345678'],
  ['', invalid],
  [49151123456.78, invalid],
  [-4915112345678, invalid],
  [1e21, invalid],
  [true, invalid],
  [['4915112345678'], invalid],
])('phone %j', (value, expected) => {
  expect(parse(phone, value)).toBe(expected)
})

test.each([
  [12, 12],
  ['12', 12],
  ['012', 12],
  ['', invalid],
  [' ', invalid],
  [' 12\n', 12],
  ['1e1', invalid],
  ['0x1', invalid],
  ['1.0', invalid],
  ['-1', invalid],
  ['+1', invalid],
  [1.5, invalid],
  [Number.NaN, invalid],
  [true, invalid],
  [null, invalid],
  [[1], invalid],
  [0, invalid],
  [201, invalid],
])('integer %j', (value, expected) => {
  expect(parse(integer(1, 200), value)).toBe(expected)
})

test('an ID is a Postgres integer', () => {
  expect(parse(recordId, 2147483647)).toBe(2147483647)
  expect(parse(recordId, 2147483648)).toBe(invalid)
  expect(parse(recordId, '9'.repeat(15))).toBe(invalid)
})

test.each([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
  ['True', true],
  ['FALSE ', false],
  ['1', true],
  [0, false],
  ['on', true],
  ['no', false],
  ['2', invalid],
  [2, invalid],
  ['', invalid],
  ['truely', invalid],
  ['toString', invalid],
  [[true], invalid],
])('flag %j', (value, expected) => {
  expect(parse(flag, value)).toBe(expected)
})

test.each([
  ['2030-01-31T12:00:00Z', '2030-01-31T12:00:00.000Z'],
  // PHP: DATE_ATOM, DATE_ISO8601. Python: str(), isoformat(), time(). JavaScript: Date.now().
  ['2030-01-31T12:00:00+02:00', '2030-01-31T10:00:00.000Z'],
  ['2030-01-31T12:00:00+0200', '2030-01-31T10:00:00.000Z'],
  ['2030-01-31 12:00:00+02:00', '2030-01-31T10:00:00.000Z'],
  ['2030-01-31T12:00:00.123456+00:00', '2030-01-31T12:00:00.123Z'],
  ['2030-01-31T12:00:00.5+02:00', '2030-01-31T10:00:00.500Z'],
  [1_895_918_400, '2030-01-29T12:00:00.000Z'],
  ['1895918400', '2030-01-29T12:00:00.000Z'],
  ['1895918400.75', '2030-01-29T12:00:00.750Z'],
  [1_895_918_400_123, '2030-01-29T12:00:00.123Z'],
  // Without seconds, in lower case, with a space before the zone, an offset of hours, and west of UTC.
  ['2030-01-31T12:00Z', '2030-01-31T12:00:00.000Z'],
  ['2030-01-31t12:00:00z', '2030-01-31T12:00:00.000Z'],
  [' 2030-01-31 12:00:00 UTC ', '2030-01-31T12:00:00.000Z'],
  ['2030-01-31 12:00 +02', '2030-01-31T10:00:00.000Z'],
  ['2030-01-31T23:30:00-0430', '2030-02-01T04:00:00.000Z'],
  // A + that a URL made a space.
  ['2030-01-31T12:00:00 02:00', '2030-01-31T10:00:00.000Z'],
  ['2030-01-31 12:00:00 0200', '2030-01-31T10:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['2028-02-29T12:00:00Z', '2028-02-29T12:00:00.000Z'],
  ['0000-01-01T00:00:00Z', invalid],
  ['2030-01-31T12:00:00', invalid],
  ['2030-01-31 12:00', invalid],
  ['2030-01-31', invalid],
  ['2030-02-30T12:00:00Z', invalid],
  ['2030-02-29T12:00:00Z', invalid],
  ['2030-13-01T12:00:00Z', invalid],
  ['2030-01-31T24:00:00Z', invalid],
  ['2030-01-31T12:60:00Z', invalid],
  ['2030-01-31T12:00:60Z', invalid],
  ['2030-01-31T12:00:00+24:00', invalid],
  ['2030-01-31T12:00:00+02:60', invalid],
  ['2030-01-31T12:00:00 CET', invalid],
  ['9999-12-31T23:59:59-23:59', invalid],
  ['1999-12-31T23:59:59Z', '1999-12-31T23:59:59.000Z'],
  ['31.01.2030 12:00', invalid],
  ['01/31/2030', invalid],
  ['tomorrow', invalid],
  ['20300131', invalid],
  [20_300_131, invalid],
  [1e300, invalid],
  [true, invalid],
])('moment %j', (value, expected) => {
  const parsed = parse(moment, value)
  expect(parsed instanceof Date ? parsed.toISOString() : parsed).toBe(expected)
})

describe('text', () => {
  test('of megabytes is refused without counting its characters', () => {
    const long = '😀'.repeat(6_000_000)
    const iterate = vi.spyOn(String.prototype, Symbol.iterator)
    expect(parse(text(1024), long)).toBe(invalid)
    expect(iterate).not.toHaveBeenCalled()
    iterate.mockRestore()
  })

  test('is counted in code points', () => {
    expect(parse(text(3), '😀😀😀')).toBe('😀😀😀')
    expect(parse(text(3), '😀😀😀😀')).toBe(invalid)
    expect(parse(text(3), 'abcd')).toBe(invalid)
  })

  test.each(['', 1, true])('is not %j', (value) => {
    expect(parse(text(100), value)).toBe(invalid)
  })
})

const long = 60_000

test('a long password is refused without normalizing it, and a long number without searching it', () => {
  const normalize = vi.spyOn(String.prototype, 'normalize')
  const replace = vi.spyOn(String.prototype, 'replace')
  expect(parse(password, `e${'\u0301'.repeat(long)}`)).toBe(invalid)
  expect(parse(phone, '('.repeat(long))).toBe(invalid)
  expect([normalize.mock.calls.length, replace.mock.calls.length]).toEqual([0, 0])
  normalize.mockRestore()
  replace.mockRestore()
  expect(parse(password, 'e\u0301'.repeat(128))).toBe('é'.repeat(128))
})
