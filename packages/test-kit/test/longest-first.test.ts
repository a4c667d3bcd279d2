import { expect, test } from 'vitest'
import { inOrder } from '../src/run/longest-first.ts'

const order = (seconds: Record<string, number>) => inOrder(Object.keys(seconds), (name) => name, seconds)

test('files that take longest start first', () => {
  expect(
    order({ 'apps/api/test/a.test.ts': 1, 'apps/api/test/b.test.ts': 3, 'mutants/test/c.test.ts': 2 }),
  ).toEqual(['apps/api/test/b.test.ts', 'mutants/test/c.test.ts', 'apps/api/test/a.test.ts'])
})

test('three files that start processes run beside one that does not', () => {
  const seconds = {
    'system-tests/a.test.ts': 50,
    'system-tests/b.test.ts': 40,
    'devnet/test/c.test.ts': 30,
    'faults/test/d.test.ts': 20,
    'system-tests/e.test.ts': 10,
    'system-tests/repository/f.test.ts': 35,
    'apps/api/test/g.test.ts': 5,
  }
  expect(order(seconds)).toEqual([
    'system-tests/a.test.ts',
    'system-tests/b.test.ts',
    'system-tests/repository/f.test.ts',
    'devnet/test/c.test.ts',
    'faults/test/d.test.ts',
    'apps/api/test/g.test.ts',
    'system-tests/e.test.ts',
  ])
})
