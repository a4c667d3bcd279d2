import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'
import { readPages, withoutCodeBlocks } from './pages.ts'

type Pages = ReadonlyMap<string, string>

/** The relative links that lead nowhere, as "page: link". */
function brokenLinks(pages: Pages, exists: (path: string) => boolean): string[] {
  return [...pages].flatMap(([page, text]) =>
    linksOf(text)
      .filter((link) => !leadsSomewhere(pages, page, link, exists))
      .map((link) => `${page}: ${link}`),
  )
}

function linksOf(text: string): string[] {
  const plain = withoutCodeBlocks(text).replaceAll(/`[^`]*`/g, '`code`')
  const inline = [...plain.matchAll(/\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)/g)]
  const defined = [...plain.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)]
  const images = [...plain.matchAll(/<(?:img|a)[^>]*(?:src|href)="([^"]+)"/g)]
  return [...inline, ...defined, ...images]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/i.test(link))
}

function leadsSomewhere(
  pages: Pages,
  page: string,
  link: string,
  exists: (path: string) => boolean,
): boolean {
  const [file = '', heading] = link.split('#')
  const path = file === '' ? page : normalize(join(dirname(page), decodeURIComponent(file)))
  if (!exists(path)) return false
  if (heading === undefined) return true
  return headingsOf(pages.get(path) ?? '').includes(heading)
}

/** As GitHub names them: https://docs.github.com/en/get-started/writing-on-github (section links). */
function headingsOf(text: string): string[] {
  const seen = new Map<string, number>()
  return [...withoutCodeBlocks(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(([, title = '']) => {
    const name = title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return before === 0 ? name : `${name}-${before}`
  })
}

test('every relative link in a page leads to an existing file and heading', () => {
  const pages = readPages()
  expect(pages.size).toBeGreaterThan(40)
  expect(linksOf(pages.get('README.md') ?? '').length).toBeGreaterThan(10)
  expect(brokenLinks(pages, (path) => existsSync(join(repository, path)))).toEqual([])
})

const planted = new Map([
  ['README.md', '# Title\n\n## Twice, `here`\n\n## Twice, `here`\n'],
  ['docs/page.md', '# Page\n'],
])

test.each([
  ['a file that exists', '[a](docs/page.md)', []],
  ['a heading of another page', '[a](docs/page.md#page)', []],
  ['the second heading of the same name', '[a](#twice-here-1)', []],
  ['another site', '[a](https://example.com/none)', []],
  ['a link that is only shown as code', '`[a](none.md)`', []],
  ['a missing file', '[a](docs/none.md)', ['README.md: docs/none.md']],
  ['a missing picture', '![a](docs/none.png)', ['README.md: docs/none.png']],
  ['a missing heading of another page', '[a](docs/page.md#none)', ['README.md: docs/page.md#none']],
  ['a missing heading of the same page', '[a](#none)', ['README.md: #none']],
])('the check judges %s', (_, link, broken) => {
  const pages = new Map(planted).set('README.md', `${planted.get('README.md')}\n${link}\n`)
  expect(brokenLinks(pages, (path) => pages.has(path))).toEqual(broken)
})
