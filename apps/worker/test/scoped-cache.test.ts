import { expect, test } from 'vitest'
import { makeScopedCache } from '../src/caches/scoped-cache.ts'

test('an entry of one scope is not visible in another', () => {
  const open = makeScopedCache({ sizeMax: 10 })
  const [one, other] = [open(), open()]
  one.set('key', 1)
  other.set('key', 2)
  one.delete('key')
  expect(one.get('key')).toBeUndefined()
  expect(other.get('key')).toMatchObject({ value: 2 })
})

test('a closed scope frees its room, and keeps nothing from then on', () => {
  const open = makeScopedCache({ sizeMax: 2 })
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

test('a scope keeps the entries that it used last, up to its own limit', () => {
  const open = makeScopedCache({ sizeMax: 100, scopeSizeMax: 10 })
  const [busy, other] = [open(), open()]
  other.set('kept', 1, 10)
  busy.set('first', 1, 4)
  busy.set('second', 2, 4)
  busy.get('first')
  busy.set('third', 3, 4)
  expect(['first', 'second', 'third'].map((key) => busy.get(key)?.value)).toEqual([1, undefined, 3])
  busy.set('third', 3, 6)
  expect(['first', 'third'].map((key) => busy.get(key)?.value)).toEqual([1, 3])
  busy.set('too large', 4, 11)
  expect(busy.get('too large')).toBeUndefined()
  expect(other.get('kept')).toMatchObject({ value: 1 })
})
