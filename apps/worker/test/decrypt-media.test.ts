import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { decryptMedia } from '../src/received-media/download-media.ts'

const mediaKey = randomBytes(32)

function encrypt(bytes: Buffer, info = 'WhatsApp Image Keys'): Buffer {
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, '', info, 112))
  const iv = keys.subarray(0, 16)
  const cipher = createCipheriv('aes-256-cbc', keys.subarray(16, 48), iv)
  const body = Buffer.concat([cipher.update(bytes), cipher.final()])
  const mac = createHmac('sha256', keys.subarray(48, 80)).update(iv).update(body).digest()
  return Buffer.concat([body, mac.subarray(0, 10)])
}

function decrypt(encrypted: Buffer, pieceBytes = encrypted.length): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let start = 0; start < encrypted.length; start += pieceBytes) {
    pieces.push(encrypted.subarray(start, start + pieceBytes))
  }
  const source = { kind: 'image' as const, mediaKey: mediaKey.toString('base64') }
  return buffer(Readable.from(decryptMedia(Readable.from(pieces), source)))
}

it.each([1, 7, 16, 1000, 100_000])('decrypts a file that arrives in pieces of %i bytes', async (size) => {
  const bytes = randomBytes(3001)
  expect(await decrypt(encrypt(bytes), size)).toEqual(bytes)
})

it('refuses a file whose HMAC was changed', async () => {
  const encrypted = encrypt(randomBytes(100))
  encrypted[encrypted.length - 1] = (encrypted.at(-1) ?? 0) ^ 1
  await expect(decrypt(encrypted)).rejects.toMatchObject({ reason: 'hash_mismatch' })
})

it.each([
  ['was changed', (encrypted: Buffer) => encrypted.fill(0, 0, 1)],
  ['is cut off', (encrypted: Buffer) => encrypted.subarray(0, -1)],
  ['is shorter than an HMAC', () => Buffer.alloc(9)],
  ['is empty', () => Buffer.alloc(0)],
])('refuses a file that %s', async (_, damage) => {
  const encrypted = encrypt(Buffer.concat([Buffer.from([1]), randomBytes(100)]))
  await expect(decrypt(damage(encrypted))).rejects.toMatchObject({ reason: 'hash_mismatch' })
})

it('refuses a file of another kind', async () => {
  await expect(decrypt(encrypt(randomBytes(100), 'WhatsApp Video Keys'))).rejects.toThrow()
})
