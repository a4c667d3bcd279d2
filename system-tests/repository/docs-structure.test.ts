import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'
import { readPages, withoutCodeBlocks } from './pages.ts'

const pages = readPages()
const records = [...pages].filter(([path]) => /^docs\/decisions\/\d{4}-/.test(path))
const readmeLinesMax = 40
const index = pages.get('docs/decisions/README.md') ?? ''
const headingsOf = (text: string) =>
  [...withoutCodeBlocks(text).matchAll(/^## (.+)$/gm)].map(([, title]) => title)

test.each(records)('%s has the sections of the template, and the index names it', (path, text) => {
  expect(headingsOf(text)).toEqual(headingsOf(pages.get('docs/decisions/template.md') ?? ''))
  const [, title = ''] = /^# (.+)$/m.exec(text) ?? []
  const name = path.replace('docs/decisions/', '')
  expect(title.slice(0, 4)).toBe(name.slice(0, 4))
  expect(index.replaceAll(/\s+/g, ' ')).toContain(`[${title}](${name})`)
})

/** The status of a record, and the numbers of those that it names. */
function statusOf(text: string): { words: string; named: string[] } {
  const [, words = ''] = /^## Status\n(.*?)^## /ms.exec(text) ?? []
  return { words, named: [...words.matchAll(/\]\((\d{4})-/g)].map(([, number = '']) => number) }
}

test('a decision that amends or supersedes another is named there, and the other way round', () => {
  const byNumber = new Map(records.map(([path, text]) => [path.slice(15, 19), statusOf(text)]))
  const missing = [...byNumber].flatMap(([number, { named }]) =>
    named
      .filter((other) => !byNumber.get(other)?.named.includes(number))
      .map((other) => `${number}: ${other}`),
  )
  expect([...byNumber.values()].flatMap(({ named }) => named).length).toBeGreaterThan(20)
  expect(missing).toEqual([])
  const later = [...byNumber].filter(([, { words }]) => /superseded by|amended by/i.test(words))
  const wrong = later.filter(([number, { named }]) => !named.some((other) => other > number))
  expect(wrong.map(([number]) => number)).toEqual([])
})

function foldersWithManifest(): string[] {
  const inside = (folder: string) => readdirSync(join(repository, folder)).map((name) => join(folder, name))
  return [...inside('packages'), ...inside('apps'), ...inside('.')]
    .filter((folder) => !/^(\.|node_modules)/.test(folder))
    .filter((folder) => existsSync(join(repository, folder, 'package.json')))
}

test('the README of every package, app and folder with a manifest fits on a screen: where to start, what it may import', () => {
  const folders = foldersWithManifest()
  expect(folders.length).toBeGreaterThan(10)
  const wrong = folders.filter((folder) => {
    const page = pages.get(join(folder, 'README.md')) ?? ''
    const isComplete = ['**Start reading**', '**May import**'].every((part) => page.includes(part))
    return !isComplete || page.split('\n').length > readmeLinesMax + 1
  })
  expect(wrong).toEqual([])
})

test('the guide names every operation', () => {
  const guide = readFileSync(join(repository, 'docs/guide.md'), 'utf8')
  const names = readdirSync(join(repository, 'apps/api/src/operations')).map((file) => file.slice(0, -3))
  expect(names.length).toBeGreaterThan(15)
  // `events-stream.ts` has the URL `events/stream`.
  const isNamed = (name: string) =>
    guide.includes(`\`${name}\``) || guide.includes(`\`${name.replace('-', '/')}\``)
  expect(names.filter((name) => !isNamed(name))).toEqual([])
})
