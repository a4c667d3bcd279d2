import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withDiagrams } from './state-diagrams.ts'

const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8')

test('docs/architecture.md shows the states as they are: npm run diagrams', () => {
  expect(page.match(/stateDiagram-v2/g)).toHaveLength(2)
  expect(withDiagrams(page)).toBe(page)
  expect(withDiagrams(page.replace('written --> refused', 'written --> failed'))).toBe(page)
})
