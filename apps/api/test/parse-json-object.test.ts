import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJsonObject } from '../src/http/parse-json-object.ts'

/** Long strings are decoded in slices of this many characters. */
const sliceChars = 2 ** 20

async function expectAsUsual(literal: string): Promise<void> {
  const [member] = await parseJsonObject(Buffer.from(`{"url":${literal}}`))
  // Keeps megabytes out of the failure message.
  expect(member?.[1] === JSON.parse(literal)).toBe(true)
}

test.each(['é', '\\n', '\\\\', '\\u00e9', '\\ud83d\\ude00', '\\/', '😀', 'A'])(
  'a long string of %s is decoded like JSON.parse does, at every cut',
  async (piece) => {
    const repeated = (chars: number) => piece.repeat(Math.ceil(chars / piece.length))
    // The parser pauses between slices.
    await Promise.all([
      expectAsUsual(`"${repeated(sliceChars + 100)}"`),
      ...Array.from({ length: 12 }, (_, shift) =>
        expectAsUsual(`"${'x'.repeat(sliceChars - 60 + shift)}${repeated(160)}"`),
      ),
    ])
  },
)

test('a long string is decoded like JSON.parse does, at every cut', async () => {
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
  const literal = fc
    .tuple(fc.array(escapes, { minLength: 1, maxLength: 40 }), fc.nat(60))
    .map(([pieces, before]) => `"${'x'.repeat(sliceChars - before)}${pieces.join('')}${'y'.repeat(10)}"`)
  const several = fc.array(literal, { minLength: 6, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(several, (literals) => Promise.all(literals.map(expectAsUsual)).then(() => undefined)),
    { numRuns: 10 },
  )
})

test.each(['\\', '\\u12', '\\x', '\n', '\u0000'])(
  'a long string that contains %j is not valid JSON',
  async (piece) => {
    const cut = 'x'.repeat(sliceChars - 2)
    for (const text of [`${cut}${piece}`, `${cut}${piece}${cut}`]) {
      await expect(parseJsonObject(Buffer.from(`{"url":"${text}"}`))).rejects.toMatchObject({
        code: 'malformed_json',
      })
    }
  },
)

test.each([0x80, 0xff, 0xc3, 0xf0])(
  'a long string with a single byte %i is not valid UTF-8',
  async (byte) => {
    for (const position of [100, sliceChars - 1, sliceChars]) {
      const bytes = Buffer.from(`{"url":"${'x'.repeat(sliceChars + 100)}"}`)
      bytes[position] = byte
      await expect(parseJsonObject(bytes)).rejects.toMatchObject({ code: 'malformed_json' })
    }
  },
)

test('a long string keeps a leading byte order mark', async () => {
  const text = `\ufeff${'x'.repeat(sliceChars)}`
  expect((await parseJsonObject(Buffer.from(JSON.stringify({ url: text }))))[0]?.[1] === text).toBe(true)
})
