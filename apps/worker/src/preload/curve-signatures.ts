import { createPublicKey, verify as verifyNatively } from 'node:crypto'
import { requireOfBaileys } from './require-of-baileys.ts'

type Bytes = Uint8Array
type Curve = { verifySignature(key: Bytes, message: Bytes, signature: Bytes, isInit?: boolean): unknown }

const curve = requireOfBaileys('libsignal/src/curve.js') as Curve
const verify = curve.verifySignature

/** The first byte of libsignal's public keys. */
const publicKeyTag = 5
const signBit = 128
/** The modulus of the curve's field. */
const prime = 2n ** 255n - 19n

/**
 * libsignal verifies signatures in plain JavaScript, 8 to 14 ms each, on the event loop: two with every login, one with every
 * first message to a device. They are XEdDSA: Ed25519 with the X25519 key, whose missing sign is in a bit of the
 * signature that Ed25519 leaves unused (https://signal.org/docs/specifications/xeddsa). So Node verifies them in 0.2 ms.
 */
curve.verifySignature = (key, message, signature, isInit) => {
  // With `isInit`, libsignal does not check the signature at all. What is malformed, it refuses with its own error.
  if (isInit || !isUsual(key, message, signature)) return verify(key, message, signature, isInit)
  const plain = Buffer.from(signature)
  const last = plain.length - 1
  const sign = plain.readUInt8(last) & signBit
  plain.writeUInt8(plain.readUInt8(last) - sign, last)
  return verifyNatively(null, message, toEd25519(key.subarray(1), sign), plain)
}

function isUsual(key: Bytes, message: Bytes, signature: Bytes): boolean {
  const isKey = Buffer.isBuffer(key) && key.length === 33 && key[0] === publicKeyTag
  return isKey && message instanceof Uint8Array && signature instanceof Uint8Array && signature.length === 64
}

/** The birational map of RFC 7748, 4.1: y = (u - 1) / (u + 1). */
function toEd25519(key: Bytes, sign: number) {
  const u = BigInt(`0x${Buffer.from(key).reverse().toString('hex')}`) % 2n ** 255n
  const y = modulo((u - 1n) * invert(u + 1n))
  const bytes = Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse()
  bytes.writeUInt8(bytes.readUInt8(31) | sign, 31)
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
    format: 'jwk',
  })
}

/** By the extended Euclidean algorithm. Zero for zero. */
function invert(value: bigint): bigint {
  let [remainder, next] = [prime, modulo(value)]
  let [factor, nextFactor] = [0n, 1n]
  while (next !== 0n) {
    const quotient = remainder / next
    ;[remainder, next] = [next, remainder - quotient * next]
    ;[factor, nextFactor] = [nextFactor, factor - quotient * nextFactor]
  }
  return remainder === 1n ? modulo(factor) : 0n
}

function modulo(value: bigint): bigint {
  return ((value % prime) + prime) % prime
}
