import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { NewKey } from '@wagate/db/queries/accounts/api-keys'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const shape = /^wag_(link_|session_|stream_|web_|mail_|proof_)?[0-9A-Za-z]{49}$/

/** Links, sessions and tokens have the form of a key, so that logs redact them and scanners find them too. */
export type SecretPrefix =
  | 'wag_'
  | 'wag_link_'
  | 'wag_session_'
  | 'wag_stream_'
  | 'wag_web_'
  | 'wag_mail_'
  | 'wag_proof_'

/** `wag_`, 256 random bits in 43 base62 characters, CRC32 in 6: scanners recognise it, typing errors are refused offline. */
export function makeApiKey(prefix: SecretPrefix = 'wag_'): string {
  const body = `${prefix}${base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)}`
  return body + checksum(body)
}

/** `apiKey` is returned to the caller once, `key` is stored. */
export function makeNewKey(name = 'default', expiresAt: Date | null = null): { apiKey: string; key: NewKey } {
  const apiKey = makeApiKey()
  return { apiKey, key: { name, hash: hashApiKey(apiKey), lastFour: apiKey.slice(-4), expiresAt } }
}

export function isWellFormedApiKey(key: string): boolean {
  return shape.test(key) && checksum(key.slice(0, -6)) === key.slice(-6)
}

export function isOfLink(key: string): boolean {
  return key.startsWith('wag_link_') || key.startsWith('wag_session_')
}

export function isStreamToken(key: string): boolean {
  return key.startsWith('wag_stream_')
}

/** Of a person who has signed in. */
export function isOfSession(key: string): boolean {
  return key.startsWith('wag_web_')
}

export function isOfMail(key: string): boolean {
  return key.startsWith('wag_mail_')
}

/** What is stored. A fast hash is right for 256 random bits: there is nothing to guess. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), 6)
}

function base62(value: bigint, length: number): string {
  let rest = value
  let text = ''
  while (text.length < length) {
    text = alphabet[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text
}
