import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDataUrl } from '../src/media/parse-data-url.ts'
import { parseMediaUrl } from '../src/media/parse-media-url.ts'

const read = async (url: string) => {
  const { mime, filename, bytes } = await parseDataUrl(url)
  return [mime, filename, bytes.toString('latin1')]
}

describe('a data URL', () => {
  test.each([
    ['data:image/png;base64,YWJj', 'image/png', undefined, 'abc'],
    ['DATA:IMAGE/PNG;BASE64,YWI=', 'image/png', undefined, 'ab'],
    ['data:;base64,YQ==', undefined, undefined, 'a'],
    ['data:base64,YQ==', undefined, undefined, 'a'],
    ['data:strange;base64,YQ==', undefined, undefined, 'a'],
    ['data:application/pdf;filename=generated.pdf;base64,YQ==', 'application/pdf', 'generated.pdf', 'a'],
    ['data:application/pdf;name=a%20b.pdf;base64,YQ==', 'application/pdf', 'a b.pdf', 'a'],
    ['data:application/pdf;filename="a, b; c.pdf";base64,YQ==', 'application/pdf', 'a, b; c.pdf', 'a'],
    ["data:text/csv;filename*=UTF-8''gr%C3%BC%C3%9Fe.csv;base64,YQ==", 'text/csv', 'grüße.csv', 'a'],
    ['data:text/csv;filename=50%.csv;base64,YQ==', 'text/csv', '50%.csv', 'a'],
    ['data:text/csv;charset=utf-8;base64,YQ==', 'text/csv', undefined, 'a'],
    ['data:text/csv;charset=utf-8;filename=;base64,YQ==', 'text/csv', undefined, 'a'],
    ['data:text/plain;base64;charset=utf-8,YQ==', 'text/plain', undefined, 'a'],
    ['data:text/plain; base64,YQ==', 'text/plain', undefined, 'a'],
    ['data:image/png;base64;base64,YQ==', 'image/png', undefined, 'a'],
    ['data:text/plain,a%2Cb%0A', 'text/plain', undefined, 'a,b\n'],
    ['data:,a+b 100%', undefined, undefined, 'a+b 100%'],
    ['data:text/csv;charset=utf-8,a;b', 'text/csv', undefined, 'a;b'],
    ['data:text/plain,%zz%4', 'text/plain', undefined, '%zz%4'],
    ['data:text/plain,ü', 'text/plain', undefined, '\xc3\xbc'],
    ['data:;base64,+/8=', undefined, undefined, '\xfb\xff'],
    ['data:;base64,-_8=', undefined, undefined, '\xfb\xff'],
    ['data:;base64,-_8', undefined, undefined, '\xfb\xff'],
    ['data:;base64,%2B%2F8%3D', undefined, undefined, '\xfb\xff'],
    ['data:;base64, YWJj ', undefined, undefined, 'abc'],
    ['data:;base64,\r\nYWJj\r\nYWJj\r\n', undefined, undefined, 'abcabc'],
    ['data:;base64,YWJj\tYWJj\n', undefined, undefined, 'abcabc'],
    ['data:;base64,YWJjYWJj YWJjYWJj YWI=', undefined, undefined, 'abcabcabcabcab'],
    // From a form that does not encode the plus.
    ['data:;base64, /8=', undefined, undefined, '\xfb\xff'],
    ['data:;base64,YWJj /8=', undefined, undefined, 'abc\xfb\xff'],
    ['data:;base64,AA A', undefined, undefined, '\0\x0f\x80'],
  ])('%j', async (url, mime, filename, bytes) => {
    expect(await read(url)).toEqual([mime, filename, bytes])
  })

  test.each([
    'data:image/png;base64',
    'data:image/png;base64,',
    'data:',
    'data:,',
    'data:image/png;base64,A',
    'data:image/png;base64,AAAAA',
    'data:image/png;base64,A===',
    'data:image/png;base64,AAAA=',
    'data:image/png;base64,AA=A',
    'data:image/png;base64,AA==AAAA',
    'data:image/png;base64,!!!!',
    'data:image/png;base64,äAAA',
    `data:${'x'.repeat(2048)};base64,AAAA`,
  ])('refuses %j', async (url) => {
    await expect(parseDataUrl(url)).rejects.toMatchObject({ code: 'invalid_media' })
  })
})

test.each([
  [randomBytes(300).toString('base64'), true],
  [randomBytes(300).toString('base64url'), true],
  ['//cdn.example.com/a/picture/of/something.jpg', false],
  ['cdn.example.com/a/picture/of/something.jpg', false],
  ['picture', false],
])('%s as url is advised to begin with data: %s', async (url, isAdvised) => {
  const bytesMax = { text: 0, image: 1, video: 1, audio: 1, document: 1 } as never
  const refused = parseMediaUrl(url, {
    type: 'document',
    filename: undefined,
    allowsPrivateHosts: false,
    bytesMax,
  })
  await expect(refused).rejects.toMatchObject({
    code: 'invalid_parameter',
    message: expect.stringMatching(isAdvised ? /base64, or the like before base64$/ : /characters$/),
  })
})

const ways: Record<string, (base64: string) => string> = {
  'in one piece': (base64) => base64,
  'of URLs': (base64) => base64.replaceAll('+', '-').replaceAll('/', '_'),
  'without padding': (base64) => base64.replaceAll('=', ''),
  'in lines of MIME': (base64) => base64.replaceAll(/.{76}/g, '$&\r\n'),
  'in lines that a form made blanks': (base64) => base64.replaceAll(/.{76}/g, '$& ').trim(),
  'percent-encoded': (base64) => encodeURIComponent(base64),
  'with blanks for plus': (base64) => base64.replaceAll('+', ' '),
}

test.each(Object.entries(ways))('base64 %s is decoded to what was encoded', async (_, write) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 600 }), async (given) => {
      const bytes = Buffer.from(given)
      const text = write(bytes.toString('base64'))
      // One blank alone may end a line.
      fc.pre(!(text.includes(' ') && text.split(' ').length < 4))
      expect((await parseDataUrl(`data:;base64,${text}`)).bytes).toEqual(bytes)
    }),
  )
})

test('base64 of megabytes is decoded in slices, in any form, valid or not', async () => {
  const bytes = randomBytes(3 * 2 ** 20 + 1)
  const base64 = bytes.toString('base64')
  for (const write of Object.values(ways)) {
    expect((await parseDataUrl(`data:;base64,${write(base64)}`)).bytes.equals(bytes)).toBe(true)
  }
  const slice = 2 ** 20
  for (const wrong of ['!', '=']) {
    for (const at of [slice - 1, slice, 2 * slice - 1]) {
      const text = `${base64.slice(0, at)}${wrong}${base64.slice(at + 1)}`
      await expect(parseDataUrl(`data:;base64,${text}`)).rejects.toMatchObject({ code: 'invalid_media' })
    }
  }
})

test('percent-encoded data of megabytes is not cut between slices', async () => {
  for (const shift of [0, 1, 2]) {
    const text = 'x'.repeat(shift) + '%C3%BC'.repeat(400_000)
    const { bytes } = await parseDataUrl(`data:text/plain,${text}`)
    expect(bytes.toString()).toBe('x'.repeat(shift) + 'ü'.repeat(400_000))
  }
})

test('the time grows with the length of the URL, whatever it contains', async () => {
  const worst = async (chars: number) => {
    let ms = 0
    for (const piece of ['%', ' ', '\n', '=', '";', ',', 'AA A', '%2', ';', '"', '-']) {
      for (const head of ['data:;base64,', 'data:,', 'data:', 'data:;filename="']) {
        const url = head + piece.repeat(chars / piece.length)
        const startedAt = process.cpuUsage()
        await parseDataUrl(url).catch(() => undefined)
        ms = Math.max(ms, process.cpuUsage(startedAt).user / 1000)
      }
    }
    return ms
  }
  await worst(2 ** 16)
  const [small, large] = [await worst(2 ** 18), await worst(2 ** 21)]
  expect(large).toBeLessThan(40 * Math.max(small, 2))
})
