import { expect, test, vi } from 'vitest'
import type { z } from 'zod'
import { recordId } from '../src/parameters/parameter-types.ts'
import { webhookParameters } from '../src/webhooks/webhook-parameters.ts'

const invalid = Symbol('invalid')
const parse = (type: z.ZodType, value: unknown) => {
  const result = type.safeParse(value)
  return result.success ? result.data : invalid
}

const long = 60_000

test.each([
  ['commas', ','.repeat(long)],
  ['numbers', '1,'.repeat(long / 2)],
  ['items', Array.from({ length: long }, () => 1)],
  ['one too many', Array.from({ length: 51 }, (_, index) => index + 1)],
])('a list of too many %s is refused without reading them', (_, value) => {
  const read = vi.spyOn(recordId, 'safeParse')
  expect(parse(webhookParameters.device_ids, value)).toBe(invalid)
  expect(read).not.toHaveBeenCalled()
  read.mockRestore()
})

test('a list has as many items as it may', () => {
  const ids = Array.from({ length: 50 }, (_, index) => index + 1)
  expect(parse(webhookParameters.device_ids, ids)).toEqual(ids)
  expect(parse(webhookParameters.device_ids, ids.join(','))).toEqual(ids)
  expect(parse(webhookParameters.device_ids, [{}])).toBe(invalid)
  expect(parse(webhookParameters.types, 'message.sent,message.read')).toEqual([
    'message.sent',
    'message.read',
  ])
  expect(parse(webhookParameters.types, [1])).toBe(invalid)
})

test.each([
  ['1,2,3'],
  [' 1, 2 ,3 '],
  ['1,2,3,'],
  ['1,,2,3'],
  ['[1,"2",3]'],
  [[1, ' 2', '3']],
  [`${Array.from({ length: 50 }, (_, index) => (index % 3) + 1).join(', ')},`],
])('a list may be written as %j', (value) => {
  expect(parse(webhookParameters.device_ids, value)).toEqual([1, 2, 3])
})

test.each([',', '[', '[1', '{"a":1}', '1;2', '1 2'])('a list is not written as %j', (value) => {
  expect(parse(webhookParameters.device_ids, value)).toBe(invalid)
})
