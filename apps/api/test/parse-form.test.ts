import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeFormValue, parseForm } from '../src/http/parse-form.ts'

const largeChars = 2 ** 18
/** Few, so that many cuts are made. */
const sliceChars = 40

const decoded = (value: string) => new URLSearchParams(`x=${value}`).get('x')

async function expectAsUsual(form: string): Promise<void> {
  const parameters = await parseForm(Buffer.from(form))
  const expected = [...new URLSearchParams(form)]
  expect(parameters.length).toBe(expected.length)
  for (const [n, [name, value]] of expected.entries()) {
    expect(parameters[n]?.[0]).toBe(name)
    // Keeps megabytes out of the failure message.
    expect(parameters[n]?.[1] === value).toBe(true)
  }
}

describe('a large form is decoded like URLSearchParams does', () => {
  const large = `url=${'A'.repeat(largeChars)}`

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
    const before = rest.startsWith('&') ? [`${rest.slice(1)}&${large}`] : []
    await Promise.all([large + rest, ...before].map(expectAsUsual))
  })

  test.each(['%2B', '%C3%A9', '%e2%82%ac', '%F0%9F%98%80', '+', 'é', '😀', '%', '%e2'])(
    'of %s, at every cut',
    async (piece) => {
      for (let shift = 0; shift < 13; shift++) {
        const value = 'x'.repeat(shift) + piece.repeat(100)
        expect(await decodeFormValue(value, sliceChars)).toBe(decoded(value))
      }
    },
  )

  // URLSearchParams treats a lone percent sign next to unencoded characters in its own way.
  const encoded = ['a', '%41', '%C3%A9', '%E2%82%AC', '%F0%9F%98%80', '+']
  test.each([[[...encoded, 'é', '😀']], [[...encoded, '%2', '%', '%zz']]])(
    'at every cut in %j',
    async (pieces) => {
      const value = fc
        .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 100 })
        .map((some) => some.join(''))
      await fc.assert(
        fc.asyncProperty(value, async (given) => {
          expect(await decodeFormValue(given, sliceChars)).toBe(decoded(given))
        }),
        { numRuns: 1000 },
      )
    },
  )

  test('of several slices of the usual size', async () => {
    await expectAsUsual(`url=x${'%F0%9F%98%80'.repeat(2 ** 18)}`)
  })
})
