import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJsonObject } from '../src/http/parse-json-object.ts'

/** Long strings are read in slices of this many characters. */
const sliceChars = 2 ** 20

test.each(['\\n', '\\\\', '\\u00e9', '\\ud83d\\ude00', '\\/', '😀', 'A'])(
  'a long string of %s is read as JSON.parse reads it, wherever it is cut',
  async (piece) => {
    for (let shift = 0; shift < 12; shift++) {
      const literal = `"${'x'.repeat(shift)}${piece.repeat(Math.ceil((sliceChars + 100) / piece.length))}"`
      const [member] = await parseJsonObject(`{"url":${literal}}`)
      expect(member?.[1] === JSON.parse(literal)).toBe(true)
    }
  },
)

test('whatever stands at the place where a long string is cut, it is read as JSON.parse reads it', async () => {
  const escapes = fc.constantFrom(
    '\\\\',
    '\\"',
    '\\/',
    '\\n',
    '\\u0041',
    '\\ud83d',
    '\\ude00',
    'a',
    '€',
    '😀',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(escapes, { minLength: 1, maxLength: 40 }),
      fc.nat(60),
      async (pieces, before) => {
        const literal = `"${'x'.repeat(sliceChars - before)}${pieces.join('')}${'y'.repeat(10)}"`
        const [member] = await parseJsonObject(`{"url":${literal}}`)
        expect(member?.[1] === JSON.parse(literal)).toBe(true)
      },
    ),
    { numRuns: 60 },
  )
})

test.each(['\\', '\\u12', '\\x', '\n', '\u0000'])('a long string with %j in it is no JSON', async (piece) => {
  const cut = 'x'.repeat(sliceChars - 2)
  for (const text of [`${cut}${piece}`, `${cut}${piece}${cut}`]) {
    await expect(parseJsonObject(`{"url":"${text}"}`)).rejects.toMatchObject({ code: 'malformed_json' })
  }
})
