import { createPrivateKey, createPublicKey, diffieHellman, randomBytes } from 'node:crypto'
import { requireOfBaileys } from './require-of-baileys.ts'

type KeyPair = { pubKey: Buffer; privKey: Buffer }
type Curve = {
  generateKeyPair(): KeyPair
  calculateAgreement(publicKey: Buffer, privateKey: Buffer): Buffer
}

const curve = requireOfBaileys('libsignal/src/curve.js') as Curve
const agreeByDer = curve.calculateAgreement

const keyType = { kty: 'OKP', crv: 'X25519' }
/** The first byte of libsignal's public keys. */
const publicKeyTag = 5
const basePoint = Buffer.from(`09${'00'.repeat(31)}`, 'hex')
const basePointKey = toPublicKey(basePoint)

/**
 * libsignal exchanges keys with Node as DER, which costs Node 20 a third of a millisecond for each new key and half of one for
 * an agreement. A linking makes 812 keys, a login has three agreements, a first message four. With keys imported as JWK, they
 * take a third and a fifth of that. Nothing is exported as JWK: Node 20 may stop forever when it collects garbage during an
 * export (docs/decisions/0048-native-curve.md).
 */
curve.generateKeyPair = () => {
  const privKey = randomBytes(32)
  // RFC 7748, 5: as a scalar of X25519.
  privKey.writeUInt8(privKey.readUInt8(0) & 248, 0)
  privKey.writeUInt8((privKey.readUInt8(31) & 127) | 64, 31)
  const publicKey = diffieHellman({ privateKey: toPrivateKey(privKey), publicKey: basePointKey })
  return { pubKey: Buffer.concat([Buffer.of(publicKeyTag), publicKey]), privKey }
}

/** What Node cannot do with a JWK, libsignal does, or refuses with its own error. */
curve.calculateAgreement = (publicKey, privateKey) => {
  if (!Buffer.isBuffer(publicKey) || !Buffer.isBuffer(privateKey)) return agreeByDer(publicKey, privateKey)
  if (publicKey.length !== 33 || publicKey[0] !== publicKeyTag) return agreeByDer(publicKey, privateKey)
  try {
    return diffieHellman({
      privateKey: toPrivateKey(privateKey),
      publicKey: toPublicKey(publicKey.subarray(1)),
    })
  } catch {
    return agreeByDer(publicKey, privateKey)
  }
}

function toPrivateKey(bytes: Buffer) {
  // A private JWK needs a public part, which Node does not read.
  const key = { ...keyType, d: bytes.toString('base64url'), x: basePoint.toString('base64url') }
  return createPrivateKey({ key, format: 'jwk' })
}

function toPublicKey(bytes: Buffer) {
  return createPublicKey({ key: { ...keyType, x: bytes.toString('base64url') }, format: 'jwk' })
}
