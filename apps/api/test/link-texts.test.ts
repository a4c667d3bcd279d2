import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { documentedErrors } from '../src/openapi/documented-errors.ts'
import { operations } from '../src/operations.ts'

const page = join(import.meta.dirname, '../page/link')
const folder = join(page, 'languages')
const languages = readdirSync(folder).map((name) => name.replace('.js', ''))
const read = (name: string) => readFileSync(join(page, name), 'utf8')

async function textsOf(language: string): Promise<Record<string, string>> {
  const { texts } = await import(pathToFileURL(join(folder, `${language}.js`)).href)
  return texts
}

const english = await textsOf('en')
const wordsIn = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(String).sort()

test('the page offers every language that it has a file of', () => {
  const [, listed = ''] = /const languages = \[(.*?)\]/.exec(read('texts.js')) ?? []
  expect([...listed.matchAll(/'(\w+)'/g)].map(([, name]) => name).sort()).toEqual(languages.toSorted())
  expect(languages.length).toBeGreaterThanOrEqual(10)
})

describe.each(languages)('in %s', (language) => {
  test('every text is there, with the words that the page fills in', async () => {
    const texts = await textsOf(language)
    expect(Object.keys(texts)).toEqual(Object.keys(english))
    for (const [key, text] of Object.entries(texts)) {
      expect([key, wordsIn(text)]).toEqual([key, wordsIn(english[key])])
      expect([key, text.trim()]).toEqual([key, text])
      expect([key, text]).not.toEqual([key, ''])
      if (language !== 'en') expect([key, text]).not.toEqual([key, english[key]])
    }
  })
})

test('every text is used, and every text that is used is there', () => {
  // The texts are the words of the button that copies.
  const scripts = [...readdirSync(page).filter((name) => /\.(js|html)$/.test(name)), '../shared/copy.js']
    .map(read)
    .join('\n')
    .replaceAll('words.', 'texts.')
  const used = [
    ...scripts.matchAll(
      /data-(?:text|alt)="(\w+)"|\btexts\.(?!js\b)(\w+)|fill\((?:\w+ \? )?'(\w+)'(?: : '(\w+)')?/g,
    ),
  ]
  const quoted = Object.keys(english).filter((key) => scripts.includes(`'${key}'`))
  const names = used.flatMap((found) => found.slice(1)).filter((name) => name !== undefined)
  expect(names.filter((name) => !(name in english))).toEqual([])
  expect(Object.keys(english).filter((key) => ![...names, ...quoted].includes(key))).toEqual([])
})

test('the page has a sentence for every error of the operations that it calls', () => {
  const [, table = ''] = /const errors = \{(.*?)\n\}/s.exec(read('sentences.js')) ?? []
  const known = [...table.matchAll(/^ {2}(\w+): '(\w+)'/gm)]
  for (const [, , key = ''] of known) expect(english).toHaveProperty([key])
  /** They say what is next, or what was typed, or cannot come from the page. */
  const others = [
    'already_connected',
    'passkey_required',
    'passkey_confirmation_required',
    'invalid_parameter',
  ]
  const ofPrograms = [
    ...[
      'missing_parameter',
      'malformed_json',
      'payload_too_large',
      'unsupported_media_type',
      'headers_too_large',
    ],
    ...['duplicate_parameter', 'session_ended', 'origin_refused'],
  ]
  const called = [
    ...`${read('link.js')}${read('follow-pairing.js')}${read('passkey.js')}`.matchAll(/'([a-z]+-[a-z-]+)'/g),
  ]
  const names = new Set(called.map(([, name]) => name))
  const calls = operations.filter(({ name }) => names.has(name))
  expect(calls.length).toBeGreaterThanOrEqual(6)
  const codes = new Set(calls.flatMap((operation) => documentedErrors(operation, 'POST')))
  const without = [...codes].filter((code) => !known.some(([, name]) => name === code))
  expect(without.sort()).toEqual(
    [...others, ...ofPrograms].filter((code) => without.some((one) => one === code)).sort(),
  )
})
