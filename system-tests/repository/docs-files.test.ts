import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'
import { inlineCodeOf, readPages } from './pages.ts'

/** Of the repository and of what its programs find in their folders. */
const notOurs = new Set(['lib/Defaults/index.js', 'NNNN-short-name.md'])
const topFolders = 'apps|bench|devnet|docs|examples|extras|faults|mutants|packages|scripts|system-tests'
const namesFile = /^[\w@-][\w.@-]*(\/[\w.@-]+)*\.(ts|mjs|js|md|sql|patch)$/
const namesFolder = new RegExp(`^(${topFolders})(/[\\w.@-]+)+/?$`)

/** Files and folders of the repository, by their paths from the root. */
function listPaths(folder = repository): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (/^(\.|node_modules$|dist$)/.test(entry.name)) return []
    const path = join(folder, entry.name)
    return [relative(repository, path), ...(entry.isDirectory() ? listPaths(path) : [])]
  })
}

/** Written from the root, from the page, or with the end of its path alone: `fence.ts`, `session/linking/passkey.ts`. */
function isFound(page: string, name: string, paths: string[]): boolean {
  const isNear = existsSync(join(repository, dirname(page), name)) || existsSync(join(repository, name))
  return isNear || (namesFile.test(name) && paths.some((path) => path.endsWith(`/${name}`)))
}

/** As "page: name". The changelog names what existed. */
function missingFiles(pages: ReadonlyMap<string, string>, paths: string[]): string[] {
  return [...pages].flatMap(([page, text]) =>
    inlineCodeOf(text)
      .filter((code) => page !== 'CHANGELOG.md' && (namesFile.test(code) || namesFolder.test(code)))
      .filter((code) => !notOurs.has(code) && !isFound(page, code, paths))
      .map((code) => `${page}: ${code}`),
  )
}

test('every file and folder that a page names exists', () => {
  const pages = readPages()
  const named = inlineCodeOf(pages.get('docs/architecture.md') ?? '').filter((code) => namesFile.test(code))
  expect(named.length).toBeGreaterThan(50)
  expect(missingFiles(pages, listPaths())).toEqual([])
})

test.each([
  ['a file from the root', 'apps/api/src/main.ts', []],
  ['the end of a path', 'session/linking/passkey.ts', []],
  ['a folder', 'apps/worker/src/outbox', []],
  ['what is no file', 'api/none', []],
  ['a missing file', 'apps/api/src/none.ts', ['docs/page.md: apps/api/src/none.ts']],
  [
    'a file in another room than it says',
    'session/sending/passkey.ts',
    ['docs/page.md: session/sending/passkey.ts'],
  ],
  ['a missing folder', 'apps/none/src', ['docs/page.md: apps/none/src']],
])('the check judges %s', (_, code, missing) => {
  expect(missingFiles(new Map([['docs/page.md', `See \`${code}\`.`]]), listPaths())).toEqual(missing)
})
