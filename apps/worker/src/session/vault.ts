import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { MasterKey, MasterKeys } from './master-keys.ts'

/**
 * Encrypts the stored values of one device: AES-256-GCM under a key per device (HKDF of the master key), so that no key
 * gets near 2^32 random nonces. Layout: 1 version, 4 id of the master key, 12 nonce, 16 tag, ciphertext.
 * `context` (type and id of the value) is authenticated: a value copied to another place does not open.
 */
export type Vault = {
  seal(plaintext: Buffer, context: string): Buffer
  /** Throws when the value was changed or moved, or was sealed under an unknown master key. */
  open(sealed: Buffer, context: string): Buffer
}

const version = 1
const headerBytes = 1 + 4 + 12 + 16

export function makeVault(masterKeys: MasterKeys, deviceId: number): Vault {
  const { current, all } = masterKeys
  const currentId = Buffer.from(current.id, 'hex')
  const derived = new Map<string, Buffer>()
  const aad = (context: string) => Buffer.from(`${deviceId}|${context}`)

  function keyOf({ id, bytes }: MasterKey): Buffer {
    const known = derived.get(id)
    if (known) return known
    const key = Buffer.from(hkdfSync('sha256', bytes, Buffer.alloc(0), `wagate device ${deviceId}`, 32))
    derived.set(id, key)
    return key
  }

  return {
    seal(plaintext, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyOf(current), nonce).setAAD(aad(context))
      const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
      return Buffer.concat([Buffer.of(version), currentId, nonce, cipher.getAuthTag(), body])
    },
    open(sealed, context) {
      if (sealed.length < headerBytes || sealed[0] !== version) {
        throw new Error('A stored credential has an unknown format')
      }
      const id = sealed.toString('hex', 1, 5)
      const masterKey = all.get(id)
      if (!masterKey) {
        throw new Error(`A stored credential was encrypted with another master key (${id})`)
      }
      const decipher = createDecipheriv('aes-256-gcm', keyOf(masterKey), sealed.subarray(5, 17))
        .setAAD(aad(context))
        .setAuthTag(sealed.subarray(17, headerBytes))
      return Buffer.concat([decipher.update(sealed.subarray(headerBytes)), decipher.final()])
    },
  }
}

/** The authenticated context of Baileys' credentials and keys. */
export function authContext(type: string, id: string): string {
  return `${type}|${id}`
}

/** The authenticated context of an uploaded media content. */
export function uploadContext(messageId: string): string {
  return `upload|${messageId}`
}
