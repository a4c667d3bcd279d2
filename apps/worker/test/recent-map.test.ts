import { expect, test } from 'vitest'
import { makeRecentMap } from '../src/caches/recent-map.ts'

test('a full map drops the entry that was not used for the longest time', () => {
  const map = makeRecentMap<string, number>(2)
  map.set('first', 1)
  map.set('second', 2)
  map.get('first')
  map.set('third', 3)
  expect(['first', 'second', 'third'].map(map.get)).toEqual([1, undefined, 3])
  map.set('first', 4)
  map.set('fourth', 5)
  expect(['first', 'third', 'fourth'].map(map.get)).toEqual([4, undefined, 5])
})
