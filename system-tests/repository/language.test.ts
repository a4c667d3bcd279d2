import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'

/** Phrases that docs/style.md rules out, because readers stumble over them. */
const forbidden =
  /\b(anew|so many|by itself|of its own|for ever|at the door|in the hands of|whoever|whatever|wherever|whichever|nobody|somebody)\b|(^|[.:] )Who /i

const folders = [
  'apps/api',
  'apps/worker',
  'packages/db',
  'packages/queue',
  'packages/media-store',
  'packages/shared',
  'packages/runtime',
]
const sources = folders.flatMap((folder) => {
  const inside = readdirSync(join(repository, folder, 'src'), { recursive: true, encoding: 'utf8' })
  return inside.filter((path) => path.endsWith('.ts')).map((path) => `${folder}/src/${path}`)
})
const read = (path: string) => readFileSync(join(repository, path), 'utf8')

/** The first string of each call. */
function stringsIn(pattern: RegExp): string[] {
  return sources.flatMap((path) =>
    [...read(path).matchAll(pattern)].map((found) => found.slice(1).find(Boolean) ?? ''),
  )
}

const quoted = /(?:'((?:[^'\\]|\\.)*)'|`([^`]*)`|"([^"]*)")/.source
const log = new RegExp(
  `(?:log|logger)\\.(?:debug|info|warn|error|fatal)\\(\\s*(?:\\{[^}]*\\},\\s*)?${quoted}`,
  'g',
)
const error = new RegExp(`new AppError\\(\\s*'\\w+',\\s*${quoted}`, 'g')

test.each([
  ['log sentences', log, 40],
  ['sentences of errors', error, 30],
])('%s use plain words', (_, pattern, fewest) => {
  const sentences = stringsIn(pattern)
  expect(sentences.length).toBeGreaterThan(fewest)
  expect(sentences.filter((sentence) => forbidden.test(sentence))).toEqual([])
})

test.each(['README.md', 'docs/guide.md', 'docs/api.md', 'docs/errors.md'])('%s uses plain words', (path) => {
  const lines = read(path).split('\n')
  expect(lines.filter((line) => forbidden.test(line))).toEqual([])
})

/** So that operators can search for them. What differs from time to time belongs in a field. */
test('log sentences are constant and begin with a capital letter', () => {
  const sentences = stringsIn(log)
  expect(sentences.filter((sentence) => !/^[A-Z]/.test(sentence) || sentence.includes('${'))).toEqual([])
})
