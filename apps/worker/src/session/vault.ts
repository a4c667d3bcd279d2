import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Encrypts what is stored of one device: AES-256-GCM under a key of its own (HKDF of the master key), so
 * that no key nears 2^32 random nonces. Layout: 1 version, 4 id of the master key, 12 nonce, 16 tag, ciphertext.
 * `context` (type and id of the value) is authenticated: a value copied to another place does not open.
 */
export type Vault = {
  seal(plaintext: Buffer, context: string): Buffer
  /** Throws when the value was changed, moved, or sealed under another master key. */
  open(sealed: Buffer, context: string): Buffer
}

const version = 1
const headerBytes = 1 + 4 + 12 + 16

export function makeVault(masterKey: Buffer, deviceId: number): Vault {
  const keyId = createHash('sha256').update('wagate key id').update(masterKey).digest().subarray(0, 4)
  const key = Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `wagate device ${deviceId}`, 32))
  const aad = (context: string) => Buffer.from(`${deviceId}|${context}`)

  return {
    seal(plaintext, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad(context))
      const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
      return Buffer.concat([Buffer.of(version), keyId, nonce, cipher.getAuthTag(), body])
    },
    open(sealed, context) {
      if (sealed.length < headerBytes || sealed[0] !== version) {
        throw new Error('A stored credential has an unknown format')
      }
      if (!sealed.subarray(1, 5).equals(keyId)) {
        throw new Error('A stored credential was encrypted with another MASTER_KEY')
      }
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(5, 17))
        .setAAD(aad(context))
        .setAuthTag(sealed.subarray(17, headerBytes))
      return Buffer.concat([decipher.update(sealed.subarray(headerBytes)), decipher.final()])
    },
  }
}
