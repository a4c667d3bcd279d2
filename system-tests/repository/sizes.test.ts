import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { quantile } from '@wagate/test-kit/statistics'
import { expect, test } from 'vitest'

const files = execFileSync('git', ['ls-files', 'apps', 'packages'], { cwd: repository, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\/src\/.*\.ts$/.test(path) && existsSync(join(repository, path)))
const linesOf = (path: string) => readFileSync(join(repository, path), 'utf8').split('\n').length - 1

/** Biome holds the largest file and function. */
test('half of the files of apps and packages have 50 lines or fewer, nine of ten 130 or fewer', () => {
  const lines = files.map(linesOf)
  expect(lines.length).toBeGreaterThan(250)
  expect(quantile(lines, 0.5)).toBeLessThanOrEqual(50)
  expect(quantile(lines, 0.9)).toBeLessThanOrEqual(130)
})
