import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { findSecrets } from './secret-search.ts'

it('finds base64 at every offset in a longer text', () => {
  const bytes = randomBytes(40)
  for (const before of [0, 1, 2, 3, 4, 5]) {
    const text = Buffer.concat([randomBytes(before), bytes, randomBytes(7)]).toString('base64')
    expect(findSecrets([{ name: 'a text', text }], [{ name: 'it', bytes }])).toContain(
      'it as base64 in a text',
    )
  }
})
