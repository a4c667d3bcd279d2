import { expect, test } from 'vitest'
import { askedConsent } from '../src/session/receiving/store-received.ts'

const words = { optOut: ['stop', 'keine nachrichten'], optIn: ['start'] }
const source = { waId: 'A', number: '4915187654321', contactJid: null, isCleaned: false }
const received = { ...source, content: null, quoted: null }

test.each([
  ['STOP', 'opt-out'],
  [' stop\n', 'opt-out'],
  ['Keine Nachrichten', 'opt-out'],
  ['Start', 'opt-in'],
  ['stop it', null],
  ['please stop', null],
  ['stop.', null],
  ['', null],
  [null, null],
])('the text %j asks for %j', (body, consent) => {
  expect(askedConsent({ ...received, type: 'text', body }, words)).toBe(consent)
})

test('without words, no text asks for anything', () => {
  expect(askedConsent({ ...received, type: 'text', body: '' }, { optOut: [], optIn: [] })).toBeNull()
})

test('a caption, and an edit of another message, ask for nothing', () => {
  expect(askedConsent({ ...received, type: 'image', body: 'STOP' }, words)).toBeNull()
  const edit = { ...source, kind: 'edited' as const, target: 'B', fromMe: false, text: 'STOP' }
  expect(askedConsent(edit, words)).toBeNull()
})
