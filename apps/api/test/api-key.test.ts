import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hashApiKey, isWellFormedApiKey, makeApiKey } from '../src/credentials/api-key.ts'

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

  it('is 256 bits in 43 characters and the CRC32 of all before it in 6', () => {
    const keys = Array.from({ length: 100 }, makeApiKey)
    for (const key of keys) {
      expect(numberOf(key.slice(4, 47))).toBeLessThan(2n ** 256n)
      expect(numberOf(key.slice(47))).toBe(BigInt(crc32(key.slice(0, 47))))
    }
    // Of a hundred, half use the highest bit.
    expect(keys.some((key) => numberOf(key.slice(4, 47)) >= 2n ** 255n)).toBe(true)
  })

  it('is stored as its SHA-256', () => {
    expect(hashApiKey('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })
})

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function numberOf(base62: string): bigint {
  return [...base62].reduce((value, digit) => value * 62n + BigInt(digits.indexOf(digit)), 0n)
}
