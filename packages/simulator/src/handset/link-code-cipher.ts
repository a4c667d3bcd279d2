import { createCipheriv, createDecipheriv, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'

const saltBytes = 32
const ivBytes = 16
const iterations = 131_072

/** Encrypts a public key with a code that a person can type: salt, counter block and ciphertext. */
export async function sealWithCode(code: string, publicKey: Uint8Array): Promise<Buffer> {
  const [salt, iv] = [randomBytes(saltBytes), randomBytes(ivBytes)]
  const cipher = createCipheriv('aes-256-ctr', await keyOf(code, salt), iv)
  return Buffer.concat([salt, iv, cipher.update(publicKey), cipher.final()])
}

/** Returns the public key; another key if the code is not the one that it was sealed with. */
export async function openWithCode(code: string, sealed: Buffer): Promise<Buffer> {
  const salt = sealed.subarray(0, saltBytes)
  const iv = sealed.subarray(saltBytes, saltBytes + ivBytes)
  const decipher = createDecipheriv('aes-256-ctr', await keyOf(code, salt), iv)
  return Buffer.concat([decipher.update(sealed.subarray(saltBytes + ivBytes)), decipher.final()])
}

function keyOf(code: string, salt: Buffer): Promise<Buffer> {
  return promisify(pbkdf2)(code, salt, iterations, 32, 'sha256')
}
