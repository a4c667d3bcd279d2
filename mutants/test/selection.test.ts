import { expect, test } from 'vitest'
import type { Mutant } from '../mutant.ts'
import { groupByTestFile, listTouched } from '../selection.ts'

function makeMutant(name: string, testFile: string, fields: Partial<Mutant> = {}): Mutant {
  const file = `packages/db/src/${name}.ts`
  return { name, file, text: 'a', replacement: 'b', test: { file: testFile, title: name }, ...fields }
}

const one = makeMutant('one', 'packages/db/test/one.test.ts')
const other = makeMutant('other', 'apps/worker/test/other.test.ts')
const fault = makeMutant('fault', 'faults/surroundings.fault.ts', {
  test: { file: 'faults/surroundings.fault.ts', title: '1: x', written: { file: 'faults/whatsapp.ts' } },
})
const all = [fault, other, one]

const touchedBy = (...files: string[]) => listTouched(all, { files: new Set(files), formerMutants: all })

test('a change touches the mutants of its code, of its test files, and of the files that tests are written in', () => {
  expect(touchedBy(one.file)).toEqual([one])
  expect(touchedBy(other.test.file, one.file)).toEqual([other, one])
  expect(touchedBy('faults/whatsapp.ts')).toEqual([fault])
})

test('a change elsewhere touches none, also in a file that lists mutants', () => {
  expect(touchedBy('README.md', 'packages/db/src/one.sql', 'mutants/session-mutants.ts')).toEqual([])
})

test('a mutant whose entry is new or differs is touched', () => {
  const files = new Set(['mutants/session-mutants.ts'])
  const formerMutants = [fault, { ...other, replacement: 'c' }]
  expect(listTouched(all, { files, formerMutants })).toEqual([other, one])
})

test('mutants of one test file are tried together, those of the cheapest test files first', () => {
  const another = makeMutant('another', one.test.file)
  const groups = groupByTestFile([...all, another, makeMutant('system', 'system-tests/x.test.ts')])
  expect(groups.map(({ mutants }) => mutants.map(({ name }) => name))).toEqual([
    ...[['one', 'another'], ['other'], ['system'], ['fault']],
  ])
})
