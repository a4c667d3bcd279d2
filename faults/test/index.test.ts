import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(folder + file, 'utf8')

test('trials.md lists every trial once, with its file', () => {
  const sources = readdirSync(folder).filter((file) => file.endsWith('.ts'))
  const trials = sources.flatMap((file) =>
    [...read(file).matchAll(/['"](\d+): /g)].map(([, number]) => `${number} ${file}`),
  )
  const rows = [...read('trials.md').matchAll(/^\| (\d+) +\|.* `([\w-]+\.ts)` +\|$/gm)]
  expect(trials.length).toBeGreaterThan(20)
  expect(rows.map(([, number, file]) => `${number} ${file}`)).toEqual(
    trials.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
  )
})
