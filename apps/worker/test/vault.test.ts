import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readMasterKeys } from '../src/session/master-keys.ts'
import { makeVault } from '../src/session/vault.ts'

const keysOf = (key: Buffer, ...others: Buffer[]) => readMasterKeys(key, others)
const key = randomBytes(32)
const masterKey = keysOf(key)
const secret = Buffer.from('a session record')

describe('the vault', () => {
  test('opens what it sealed, and seals the same value differently each time', () => {
    const vault = makeVault(masterKey, 7)
    const sealed = vault.seal(secret, 'session|1')
    expect(vault.open(sealed, 'session|1')).toEqual(secret)
    expect(sealed.includes(secret)).toBe(false)
    expect(vault.seal(secret, 'session|1').equals(sealed)).toBe(false)
  })

  test('refuses a value that was moved to another device, type or id', () => {
    const sealed = makeVault(masterKey, 7).seal(secret, 'session|1')
    expect(() => makeVault(masterKey, 8).open(sealed, 'session|1')).toThrow()
    expect(() => makeVault(masterKey, 7).open(sealed, 'session|2')).toThrow()
  })

  test('refuses a value with one changed bit', () => {
    const vault = makeVault(masterKey, 7)
    const sealed = vault.seal(secret, 'session|1')
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => vault.open(changed, 'session|1')).toThrow()
    }
  })

  test('opens values of another configured master key, and seals with the current one', () => {
    const sealed = makeVault(masterKey, 7).seal(secret, 'session|1')
    const next = randomBytes(32)
    const vault = makeVault(keysOf(next, randomBytes(32), key), 7)
    expect(vault.open(sealed, 'session|1')).toEqual(secret)
    const resealed = vault.seal(secret, 'session|1')
    expect(makeVault(keysOf(next), 7).open(resealed, 'session|1')).toEqual(secret)
  })

  test('names the missing master key without revealing any key', () => {
    const sealed = makeVault(masterKey, 7).seal(secret, 'session|1')
    const open = () => makeVault(keysOf(randomBytes(32)), 7).open(sealed, 'session|1')
    expect(open).toThrow(`another master key (${masterKey.current.id})`)
    expect(masterKey.current.id).toMatch(/^[0-9a-f]{8}$/)
    expect(key.toString('hex')).not.toContain(masterKey.current.id)
  })
})
