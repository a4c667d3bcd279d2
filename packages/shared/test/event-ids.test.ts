import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatEventId, parseEventId } from '../src/event-ids.ts'

const number = fc.bigInt({ min: 0n, max: 2n ** 48n - 1n }).map(String)
const position = fc.record({
  epoch: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  tx: number,
  id: number,
  seconds: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
})

test('an id can be parsed again', () => {
  fc.assert(
    fc.property(position, (given) => {
      expect(parseEventId(formatEventId(given))).toEqual(given)
    }),
  )
})

test('ids are in the order of the events', () => {
  const parts = ({ epoch, tx, id, seconds }: ReturnType<typeof parseEventId> & object) =>
    [epoch, tx, id, seconds].map(BigInt)
  fc.assert(
    fc.property(position, position, (one, other) => {
      const [a, b] = [parts(one), parts(other)]
      const index = a.findIndex((part, place) => part !== b[place])
      const isBefore = index >= 0 && (a[index] ?? 0n) < (b[index] ?? 0n)
      expect(formatEventId(one) < formatEventId(other)).toBe(isBefore)
    }),
  )
})

test.each([
  '',
  'evt_',
  `evt_${'0'.repeat(39)}`,
  `evt_${'0'.repeat(41)}`,
  `evt_f${'0'.repeat(39)}`,
  `evt_${'g'.repeat(40)}`,
])('%j is no id', (text) => expect(parseEventId(text)).toBeUndefined())
