import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { keyIdOf, makeBoxKey, sealBox } from '../src/sealed-box.ts'

const id = '0badcafe'
const seed = randomBytes(32)
const { publicKey } = makeBoxKey(seed)
const seal = () => sealBox({ id, publicKey }, Buffer.from('secret'), 'device 7')

test('opens with the key of its seed, and names it', () => {
  const box = seal()
  expect(keyIdOf(box)).toBe(id)
  expect(makeBoxKey(seed).open(box, 'device 7').toString()).toBe('secret')
  expect(box.includes('secret')).toBe(false)
})

test('is another one each time', () => {
  expect(seal().equals(seal())).toBe(false)
})

test('does not open with another key, in another place, or when it was changed', () => {
  const { open } = makeBoxKey(seed)
  expect(() => makeBoxKey(randomBytes(32)).open(seal(), 'device 7')).toThrow()
  expect(() => open(seal(), 'device 8')).toThrow()
  const { length } = seal()
  for (const at of [0, 5, 37, 49, 65, length - 1]) {
    const changed = seal()
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(() => open(changed, 'device 7'), `byte ${at}`).toThrow()
  }
  expect(() => open(seal().subarray(0, 64), 'device 7')).toThrow('unknown format')
})
