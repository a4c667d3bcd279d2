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
