import { bareWord } from '@wagate/shared/bare-word'
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
  ['Stop.', 'opt-out'],
  ['STOP!!', 'opt-out'],
  ['*stop*', 'opt-out'],
  ['„Stop“', 'opt-out'],
  ['¡Start!', 'opt-in'],
  ['stop 🙏🏽', 'opt-out'],
  ['✋️ Keine Nachrichten …', 'opt-out'],
  ['stop. please', null],
  ["don't stop", null],
  ['stopp', null],
  ['🙏', null],
  ['!', null],
  [`stop${'!'.repeat(65_000)}`, null],
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

test('a word may be a sign, and is compared without the signs around it otherwise', () => {
  const signs = { optOut: [bareWord('👎') ?? '', bareWord('Stop!') ?? ''], optIn: [] }
  for (const body of ['👎', 'stop', 'STOP.'])
    expect(askedConsent({ ...received, type: 'text', body }, signs)).toBe('opt-out')
  expect(askedConsent({ ...received, type: 'text', body: '👍' }, signs)).toBeNull()
})
