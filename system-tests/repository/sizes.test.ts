import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { quantile } from '@wagate/test-kit/statistics'
import { expect, test } from 'vitest'

const files = execFileSync('git', ['ls-files', 'apps', 'packages'], { cwd: repository, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\/src\/.*\.ts$/.test(path) && existsSync(join(repository, path)))
const linesOf = (path: string) => readFileSync(join(repository, path), 'utf8').split('\n').slice(0, -1)

/** Biome limits the largest file and function. */
test('half of the files of apps and packages have 50 lines or fewer, nine of ten 130 or fewer', () => {
  const lines = files.map((path) => linesOf(path).length)
  expect(lines.length).toBeGreaterThan(250)
  expect(quantile(lines, 0.5)).toBeLessThanOrEqual(50)
  expect(quantile(lines, 0.9)).toBeLessThanOrEqual(130)
})

const indentationOf = (line: string) => line.length - line.trimStart().length
const opensFunction = (line: string) =>
  /(=>|\)(: .*)?) \{$/.test(line) && !/^\s*(\} )?(else )?(if|for|while|switch|catch)\b/.test(line)

/** The number of the line where the function around a line begins. The formatter indents what is inside. */
function functionAround(lines: string[], number: number): number {
  let inner = indentationOf(lines[number] ?? '')
  for (let above = number - 1; above >= 0; above--) {
    const line = lines[above] ?? ''
    if (line === '' || indentationOf(line) >= inner) continue
    if (opensFunction(line)) return above
    inner = indentationOf(line)
  }
  return -1
}

/** Of each function with mutable variables: where it begins, and how many it has. */
function countMutables(path: string): { place: string; count: number }[] {
  const lines = linesOf(path)
  const counts = new Map<number, number>()
  for (const [number, line] of lines.entries()) {
    if (!/^\s*let /.test(line)) continue
    const begin = functionAround(lines, number)
    counts.set(begin, (counts.get(begin) ?? 0) + 1)
  }
  return [...counts].map(([begin, count]) => ({ place: `${path}:${begin + 1}`, count }))
}

test('no function of apps and packages has more than six mutable variables', () => {
  const counts = files.flatMap(countMutables)
  expect(counts.length).toBeGreaterThan(50)
  expect(counts.filter(({ count }) => count > 6)).toEqual([])
})
