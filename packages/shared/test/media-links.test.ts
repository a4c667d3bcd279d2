import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openMediaLink, signMediaLink } from '../src/media-links.ts'

const key = randomBytes(32)
const media = { accountId: 7, messageId: '019c13f5-6a3c-7bd2-9d2f-3f6a52b1c7e4' }
const nowMs = Date.UTC(2026, 0, 31, 12, 30)
const hourMs = 3_600_000

function queryOf(link: string) {
  const query = new URLSearchParams(link)
  const read = (name: string) => query.get(name) ?? ''
  return { id: read('id'), expires: read('expires'), signature: read('signature') }
}

const link = queryOf(signMediaLink(key, media, nowMs))

test('a link leads to its file for at least an hour', () => {
  expect(openMediaLink(key, link, nowMs)).toEqual(media)
  expect(openMediaLink(key, link, nowMs + hourMs)).toEqual(media)
})

test('a link expires after at most two hours', () => {
  expect(openMediaLink(key, link, nowMs + 2 * hourMs)).toBeUndefined()
})

test('links of one hour are the same', () => {
  expect(signMediaLink(key, media, nowMs + hourMs / 3)).toBe(signMediaLink(key, media, nowMs))
})

test.each([
  ['another message', { id: '019c13f5-6a3c-7bd2-9d2f-3f6a52b1c7e5' }],
  ['another account', { signature: link.signature.replace('7.', '8.') }],
  ['a later expiry', { expires: String(Number(link.expires) + 1) }],
  ['no signature', { signature: '' }],
  ['a short signature', { signature: link.signature.slice(0, -1) }],
  ['an expiry that is no number', { expires: 'x' }],
])('a link changed to %s leads nowhere', (_, change) => {
  expect(openMediaLink(key, { ...link, ...change }, nowMs)).toBeUndefined()
})

test('a link that is signed with another key leads nowhere', () => {
  expect(openMediaLink(randomBytes(32), link, nowMs)).toBeUndefined()
})
