import { createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTVWXYZ'
const codeBytes = 5
const tagBytes = 16

/** The code that the phone and the companion show: it depends on random numbers of both, and on the key of the phone. */
export function codeOf(companionNonce: Buffer, phoneKey: Buffer, phoneNonce: Buffer): string {
  const digest = createHash('sha256').update(companionNonce).update(phoneKey).digest()
  let bits = 0n
  for (let at = 0; at < codeBytes; at++)
    bits = (bits << 8n) | BigInt((digest[at] ?? 0) ^ (phoneNonce[at] ?? 0))
  const digits = Array.from({ length: 8 }, (_, place) => Number((bits >> BigInt(35 - 5 * place)) & 31n))
  return digits.map((digit) => alphabet[digit]).join('')
}

/** Of the secret in the QR code that the phone has scanned, or of that which a typed code has given both sides. */
export function handoffKey(secret: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), 'shortcake-passkey-handoff-v1', 32))
}

/** Whether the companion that sent this prologue has that secret. */
export function isHandoffProof(key: Buffer, prologue: Buffer, proof: Buffer): boolean {
  const expected = createHmac('sha256', key).update(prologue).digest()
  return proof.length === expected.length && timingSafeEqual(proof, expected)
}

/** `shared`: of both key pairs. */
export function requestKey(shared: Uint8Array, deviceType: number, ref: string): Buffer {
  const salt = `Companion Pairing ${deviceType} with ref ${ref}`
  return Buffer.from(hkdfSync('sha256', shared, salt, 'Pairing Information Encryption Key', 32))
}

/** Undefined when it was encrypted with another key. */
export function openRequest(key: Buffer, iv: Uint8Array, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, iv)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}
