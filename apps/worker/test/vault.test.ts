import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeVault } from '../src/session/vault.ts'

const masterKey = randomBytes(32)
const secret = Buffer.from('a session record')

describe('the vault', () => {
  it('opens what it sealed, and seals the same value differently each time', () => {
    const vault = makeVault(masterKey, 7)
    const sealed = vault.seal(secret, 'session|1')
    expect(vault.open(sealed, 'session|1')).toEqual(secret)
    expect(sealed.includes(secret)).toBe(false)
    expect(vault.seal(secret, 'session|1').equals(sealed)).toBe(false)
  })

  it('refuses a value that was moved to another device, type or id', () => {
    const sealed = makeVault(masterKey, 7).seal(secret, 'session|1')
    expect(() => makeVault(masterKey, 8).open(sealed, 'session|1')).toThrow()
    expect(() => makeVault(masterKey, 7).open(sealed, 'session|2')).toThrow()
  })

  it('refuses a value of which one bit was changed', () => {
    const vault = makeVault(masterKey, 7)
    const sealed = vault.seal(secret, 'session|1')
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => vault.open(changed, 'session|1')).toThrow()
    }
  })

  it('says when another master key is needed', () => {
    const sealed = makeVault(masterKey, 7).seal(secret, 'session|1')
    expect(() => makeVault(randomBytes(32), 7).open(sealed, 'session|1')).toThrow(/another MASTER_KEY/)
  })
})
