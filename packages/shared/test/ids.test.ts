import fc from 'fast-check'
import { expect, test } from 'vitest'
import { earlierMessageId, makeMessageId, messageIdOf, timeOfMessageId, whatsAppIdOf } from '../src/ids.ts'

const dayMs = 86_400_000
const sender = fc.stringMatching(/^[1-9]\d{6,14}$/)
const moment = fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2200-01-01') })

test('the id of a message is a UUID of version 7 that carries its time', () => {
  fc.assert(
    fc.property(sender, moment, (sender, atMs) => {
      const id = makeMessageId(sender, atMs)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      expect(timeOfMessageId(id)).toBe(atMs)
    }),
  )
})

test('an id of WhatsApp leads back to its message, for 39 days and over clocks ten days apart', () => {
  fc.assert(
    fc.property(
      sender,
      moment,
      fc.integer({ min: -10 * dayMs, max: 39 * dayMs }),
      (sender, atMs, laterMs) => {
        const id = makeMessageId(sender, atMs)
        expect(messageIdOf(whatsAppIdOf(id), sender, atMs + laterMs)).toBe(id)
      },
    ),
    { numRuns: 1000 },
  )
})

test('an id of WhatsApp leads back to its message for 88 days with the second of two guesses', () => {
  fc.assert(
    fc.property(sender, moment, fc.integer({ min: 0, max: 88 * dayMs }), (sender, atMs, laterMs) => {
      const id = makeMessageId(sender, atMs)
      const found = messageIdOf(whatsAppIdOf(id), sender, atMs + laterMs) ?? ''
      expect([found, earlierMessageId(found)]).toContain(id)
    }),
    { numRuns: 1000 },
  )
})

test('it leads to no message of another sender', () => {
  const id = makeMessageId('4915112345678')
  expect(messageIdOf(whatsAppIdOf(id), '4915112345679')).not.toBe(id)
})

test.each([
  '',
  '3EB0',
  '3EB0280A488696CFC30D4',
  '3EB0280a488696cfc30d42',
  '3A280A488696CFC30D42',
  'x'.repeat(22),
])('an id that no message of ours has, %j, leads nowhere', (waId) =>
  expect(messageIdOf(waId, '4915112345678')).toBeUndefined(),
)

test('ids of WhatsApp look random, however alike the messages: no two are equal and every bit is set half of the time', () => {
  const count = 4096
  const nowMs = Date.now()
  const ids = Array.from({ length: count }, (_, n) =>
    whatsAppIdOf(makeMessageId('4915112345678', nowMs + (n % 8))),
  )
  for (const id of ids) expect(id).toMatch(/^3EB0[\dA-F]{18}$/)
  expect(new Set(ids).size).toBe(count)
  const numbers = ids.map((id) => BigInt(`0x${id.slice(4)}`))
  for (let bit = 0n; bit < 72n; bit++) {
    const share = numbers.filter((number) => (number >> bit) & 1n).length / count
    expect(Math.abs(share - 0.5), `bit ${bit}`).toBeLessThan(0.06)
  }
})
