import { expect, test } from 'vitest'
import { makeScopedCache } from '../src/scoped-cache.ts'

test('what is set in one scope is not seen in another', () => {
  const open = makeScopedCache({ entriesMax: 10 })
  const [one, other] = [open(), open()]
  one.set('key', 1)
  other.set('key', 2)
  one.delete('key')
  expect(one.get('key')).toBeUndefined()
  expect(other.get('key')).toMatchObject({ value: 2 })
})

test('a scope that is closed leaves its room to others, and keeps nothing any more', () => {
  const open = makeScopedCache({ entriesMax: 2 })
  const [closing, other] = [open(), open()]
  other.set('old', 1)
  closing.set('key', 1)
  closing.set('key', 2)
  closing.close()
  closing.set('key', 3)
  other.set('new', 2)
  expect(closing.get('key')).toBeUndefined()
  expect(other.get('old')).toMatchObject({ value: 1 })
  expect(other.get('new')).toMatchObject({ value: 2 })
})
