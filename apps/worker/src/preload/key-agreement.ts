import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto'
import { createRequire } from 'node:module'

type Curve = { calculateAgreement(publicKey: Buffer, privateKey: Buffer): Buffer }

// The copy that Baileys uses, which need not be the only one installed.
const require = createRequire(import.meta.resolve('baileys'))
const curve = require('libsignal/src/curve.js') as Curve
const agree = curve.calculateAgreement

const keyType = { kty: 'OKP', crv: 'X25519' }
/** The first byte of libsignal's public keys. */
const publicKeyTag = 5

/**
 * libsignal hands its keys to Node as DER, and Node 20 needs half a millisecond for each key agreement then. A login has
 * three of them, a first message four. The same keys as a JWK are read in a fifth of that time. What this cannot
 * do, libsignal does, or refuses with its own error.
 */
curve.calculateAgreement = (publicKey, privateKey) => {
  if (!Buffer.isBuffer(publicKey) || !Buffer.isBuffer(privateKey)) return agree(publicKey, privateKey)
  if (publicKey.length !== 33 || publicKey[0] !== publicKeyTag) return agree(publicKey, privateKey)
  try {
    const x = publicKey.toString('base64url', 1)
    const d = privateKey.toString('base64url')
    return diffieHellman({
      // A private JWK needs a public part, which Node does not read.
      privateKey: createPrivateKey({ key: { ...keyType, d, x }, format: 'jwk' }),
      publicKey: createPublicKey({ key: { ...keyType, x }, format: 'jwk' }),
    })
  } catch {
    return agree(publicKey, privateKey)
  }
}
