import { describe, expect, it } from 'vitest'
import { hashApiKey, isWellFormedApiKey, makeApiKey } from '../src/api-key.ts'

describe('an API key', () => {
  it('has its documented form and is never made twice', () => {
    const keys = Array.from({ length: 1000 }, makeApiKey)
    for (const key of keys) expect(key).toMatch(/^wag_[0-9A-Za-z]{49}$/)
    expect(new Set(keys).size).toBe(1000)
  })

  it('is refused after any single typing error', () => {
    const key = makeApiKey()
    expect(isWellFormedApiKey(key)).toBe(true)
    for (let position = 4; position < key.length; position++) {
      const other = key[position] === 'a' ? 'b' : 'a'
      expect(isWellFormedApiKey(key.slice(0, position) + other + key.slice(position + 1))).toBe(false)
    }
  })

  it('is stored as a hash of 32 bytes', () => {
    expect(hashApiKey('wag_x')).toHaveLength(32)
  })
})
