import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'

const folder = join(repository, 'system-tests')

/** Files with equal settings use one system, whose phones remember what the files before sent to them. */
test('no two files of system tests use the same thousand phone numbers', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  const users = new Map<string, string[]>()
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    const thousands = new Set(text.match(/(?<=['"`])(?:1555|4915)\d{4}(?=\d)/g))
    for (const thousand of thousands) users.set(thousand, [...(users.get(thousand) ?? []), file])
  }
  expect(users.size).toBeGreaterThan(30)
  expect([...users].filter(([, names]) => names.length > 1)).toEqual([])
})
