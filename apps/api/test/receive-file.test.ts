import { expect, test } from 'vitest'
import { inLargePieces, receiveFile } from '../src/http/receive-file.ts'

const kibibyte = 1024

test.each([
  ['single bytes', 1, 200_000],
  ['small pieces', 1000, 333],
  ['large pieces', 300 * kibibyte, 3],
])('%s are written in pieces of at least 64 KiB', async (_, size, count) => {
  const given = Array.from({ length: count }, (_each, index) => new Uint8Array(size).fill(index))
  const written: Buffer[] = []
  async function* pieces() {
    yield* given
  }
  for await (const piece of inLargePieces(pieces())) written.push(Buffer.from(piece))
  for (const { length } of written.slice(0, -1)) expect(length).toBeGreaterThanOrEqual(64 * kibibyte)
  expect(Buffer.concat(written).equals(Buffer.concat(given))).toBe(true)
})

test('leaves the body to others when there is no folder to write to', async () => {
  const request = new Request('http://localhost/', { method: 'POST', body: 'bytes' })
  const stagingFolder = () => Promise.reject(new Error('No space left'))
  const rules = { bytesMax: 1000, findFault: () => undefined }
  await expect(receiveFile(request, { stagingFolder }, rules)).rejects.toThrow('No space left')
  expect(request.body?.locked).toBe(false)
})
