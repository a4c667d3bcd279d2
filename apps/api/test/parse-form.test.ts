import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseForm } from '../src/http/parse-form.ts'

/** Values of large forms are decoded in slices of this many characters. */
const sliceChars = 2 ** 20

async function expectAsUsual(form: string): Promise<void> {
  const parameters = await parseForm(Buffer.from(form))
  // Keeps megabytes out of the failure message.
  expect(JSON.stringify(parameters) === JSON.stringify([...new URLSearchParams(form)])).toBe(true)
}

describe('a large form is decoded like URLSearchParams does', () => {
  const large = `url=${'A'.repeat(sliceChars)}`

  test.each([
    '',
    '&',
    '&&',
    '&x',
    '&x=',
    '&=x',
    '&x=1&x=2',
    '&a%20b=c+d',
    '&x=%',
    '&x=%zz%f',
    '&x==',
    '&x=?y',
    '&%=1',
  ])('with %j after it and before it', async (rest) => {
    await expectAsUsual(large + rest)
    if (rest.startsWith('&')) await expectAsUsual(`${rest.slice(1)}&${large}`)
  })

  test.each(['%2B', '%C3%A9', '%e2%82%ac', '%F0%9F%98%80', '+', 'é', '😀', '%', '%e2'])(
    'of %s, at every cut',
    async (piece) => {
      for (let shift = 0; shift < 13; shift++) {
        await expectAsUsual(
          `url=${'x'.repeat(shift)}${piece.repeat(Math.ceil((sliceChars + 50) / piece.length))}`,
        )
      }
    },
  )

  // URLSearchParams treats a lone percent sign next to unencoded characters in its own way.
  const encoded = ['a', '%41', '%C3%A9', '%E2%82%AC', '%F0%9F%98%80', '+']
  test.each([[[...encoded, 'é', '😀']], [[...encoded, '%2', '%', '%zz']]])(
    'at every cut in %j',
    async (pieces) => {
      const found = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(found, fc.nat(40), (some, before) =>
          expectAsUsual(`url=${'x'.repeat(sliceChars - before)}${some.join('')}${'y'.repeat(10)}`),
        ),
        { numRuns: 20 },
      )
    },
  )
})
