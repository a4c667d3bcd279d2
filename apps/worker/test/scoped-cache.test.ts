import { expect, test } from 'vitest'
import { makeScopedCache } from '../src/scoped-cache.ts'

test('what is set in one scope is not seen in another', () => {
  const open = makeScopedCache({ sizeMax: 10 })
  const [one, other] = [open(), open()]
  one.set('key', 1)
  other.set('key', 2)
  one.delete('key')
  expect(one.get('key')).toBeUndefined()
  expect(other.get('key')).toMatchObject({ value: 2 })
})

test('a scope that is closed leaves its room to others, and keeps nothing any more', () => {
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

test('a scope keeps what it used last, up to its own size, and leaves the rest to others', () => {
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
