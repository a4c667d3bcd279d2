import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseForm } from '../src/http/parse-form.ts'

/** Values of large forms are decoded in slices of this many characters. */
const sliceChars = 2 ** 20

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
    const before = rest.startsWith('&') ? [`${rest.slice(1)}&${large}`] : []
    await Promise.all([large + rest, ...before].map(expectAsUsual))
  })

  test.each(['%2B', '%C3%A9', '%e2%82%ac', '%F0%9F%98%80', '+', 'é', '😀', '%', '%e2'])(
    'of %s, at every cut',
    async (piece) => {
      const repeated = (chars: number) => piece.repeat(Math.ceil(chars / piece.length))
      // The parser pauses between slices.
      await Promise.all([
        expectAsUsual(`url=${repeated(sliceChars + 50)}`),
        ...Array.from({ length: 13 }, (_, shift) =>
          expectAsUsual(`url=${'x'.repeat(sliceChars - 60 + shift)}${repeated(120)}`),
        ),
      ])
    },
  )

  // URLSearchParams treats a lone percent sign next to unencoded characters in its own way.
  const encoded = ['a', '%41', '%C3%A9', '%E2%82%AC', '%F0%9F%98%80', '+']
  test.each([[[...encoded, 'é', '😀']], [[...encoded, '%2', '%', '%zz']]])(
    'at every cut in %j',
    async (pieces) => {
      const found = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 20 })
      const form = fc
        .tuple(found, fc.nat(40))
        .map(([some, before]) => `url=${'x'.repeat(sliceChars - before)}${some.join('')}${'y'.repeat(10)}`)
      const several = fc.array(form, { minLength: 5, maxLength: 5 })
      await fc.assert(
        fc.asyncProperty(several, (forms) => Promise.all(forms.map(expectAsUsual)).then(() => undefined)),
        { numRuns: 4 },
      )
    },
  )
})
