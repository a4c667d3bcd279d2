import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { makeVault } from '../src/session/credentials/vault.ts'

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

  test('never uses a nonce twice', () => {
    const vault = makeVault(masterKey, 7)
    const nonces = Array.from({ length: 1000 }, () => vault.seal(secret, 'session|1').toString('hex', 5, 17))
    expect(new Set(nonces).size).toBe(1000)
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

  test('opens a value in two parts, and seals a part again only if it has changed', () => {
    const vault = makeVault(masterKey, 7)
    const parts = { frame: Buffer.from('a frame'), steps: Buffer.from('a step') }
    const first = vault.sealParts(parts, 'session|1')
    expect(vault.openParts(first.sealed, 'session|1')).toEqual({ ...parts, known: first.frame })
    const next = vault.sealParts({ ...parts, steps: Buffer.from('a next') }, 'session|1', first.frame)
    const { length } = first.frame.sealed
    expect(next.sealed.subarray(0, length)).toEqual(first.sealed.subarray(0, length))
    expect(String(vault.openParts(next.sealed, 'session|1').steps)).toBe('a next')
    const changed = vault.sealParts({ ...parts, frame: Buffer.from('another') }, 'session|1', first.frame)
    expect(String(vault.openParts(changed.sealed, 'session|1').frame)).toBe('another')
  })

  test('refuses a value in two parts that was moved, changed or put together from two others', () => {
    const vault = makeVault(masterKey, 7)
    const parts = { frame: Buffer.from('a frame'), steps: Buffer.from('a step') }
    const { sealed, frame } = vault.sealParts(parts, 'session|1')
    expect(() => vault.openParts(sealed, 'session|2')).toThrow()
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => vault.openParts(changed, 'session|1')).toThrow()
    }
    const other = vault.sealParts(parts, 'session|1').sealed
    const { length } = frame.sealed
    const mixed = Buffer.concat([other.subarray(0, length), sealed.subarray(length)])
    expect(() => vault.openParts(mixed, 'session|1')).toThrow()
    expect(() => vault.open(sealed, 'session|1')).toThrow('unknown format')
  })

  test('seals values of either form again with the current master key', () => {
    const next = randomBytes(32)
    const [before, during, after] = [masterKey, keysOf(next, key), keysOf(next)].map((keys) =>
      makeVault(keys, 7),
    )
    const parts = { frame: secret, steps: Buffer.from('a step') }
    const inParts = during?.reseal(before?.sealParts(parts, 'session|1').sealed ?? secret, 'session|1')
    expect(after?.openParts(inParts ?? secret, 'session|1')).toMatchObject(parts)
    const whole = during?.reseal(before?.seal(secret, 'session|1') ?? secret, 'session|1')
    expect(after?.open(whole ?? secret, 'session|1')).toEqual(secret)
    // A frame that another key has sealed is not used again.
    const opened = during?.openParts(before?.sealParts(parts, 'session|1').sealed ?? secret, 'session|1')
    expect(opened?.known).toBeUndefined()
  })
})
