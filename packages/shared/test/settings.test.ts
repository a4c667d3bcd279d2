import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { settings } from '../src/settings.ts'

const mebibyte = 2 ** 20

it.each([
  ['STATUS_GRACE_MS', 60_000],
  ['PAIRING_MS', 120_000],
  ['MEDIA_IMAGE_BYTES_MAX', 16 * mebibyte],
  ['MEDIA_AUDIO_BYTES_MAX', 64 * mebibyte],
  ['MEDIA_VIDEO_BYTES_MAX', 64 * mebibyte],
  ['MEDIA_DOCUMENT_BYTES_MAX', 100 * mebibyte],
  ['LIMIT_REQUESTS_PER_SECOND', 50],
  ['LIMIT_REQUESTS_BURST', 100],
] as const)('%s, which clients were told, is %i unless it is set', (name, value) => {
  expect(settings[name].parse(undefined)).toBe(value)
})

const base64 = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64')
/** Begins with `+//+`. Only its form can be a reason to refuse what is made of it. */
const random = base64(Buffer.concat([Buffer.from('fbfffe', 'hex'), randomBytes(29)]))
const half = randomBytes(16)

/** The last character of 32 bytes in base64 has two bits that are zero. */
function bitMore(last: string): string {
  return String.fromCharCode(last.charCodeAt(0) + 1)
}

it('MASTER_KEY takes 32 random bytes in base64', () => {
  expect(settings.MASTER_KEY.parse(random).toString('base64')).toBe(random)
})

it.each([
  ['zeros', base64(Buffer.alloc(32))],
  ['a repeated pattern', base64(Buffer.concat([half, half]))],
  ['typed text', base64('correct horse battery staple 123')],
  ['too short', base64(randomBytes(31))],
  ['hexadecimal', randomBytes(32).toString('hex')],
  ['not quite base64', `${random.slice(0, -1)} `],
  ['base64url', random.replaceAll('+', '-').replaceAll('/', '_')],
  ['trailing garbage', `${random}!`],
  ['bits that no byte holds', random.replace(/.=$/, (last) => `${bitMore(last)}=`)],
])('MASTER_KEY refuses %s', (_, value) => {
  expect(settings.MASTER_KEY.safeParse(value).success).toBe(false)
})

it('MASTER_KEYS_OTHER reads a weak key, so that it can be replaced, and nothing but base64', () => {
  const weak = base64(Buffer.alloc(32))
  expect(settings.MASTER_KEYS_OTHER.parse(`${random},${weak}`)).toHaveLength(2)
  expect(settings.MASTER_KEYS_OTHER.safeParse(`${random},${weak} `).success).toBe(false)
})
