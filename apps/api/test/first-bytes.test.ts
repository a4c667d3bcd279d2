import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { firstBytes } from '../src/received-media/answer-media.ts'

test.each([
  [5, 'abcde'],
  [3, 'abc'],
  [8, 'abcdefgh'],
  [100, 'abcdefgh'],
])('no more bytes than the %s that were announced are sent', async (length, expected) => {
  const stream = Readable.from([Buffer.from('abc'), Buffer.from('defgh')])
  expect(String(await buffer(firstBytes(stream, length)))).toBe(expected)
  expect(stream.destroyed).toBe(true)
})
