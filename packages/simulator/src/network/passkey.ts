import { createECDH, createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { SigningKey } from '../wire/signing-key.ts'

/** Of the person, for whatsapp.com. Derived from the identity of the phone, so it needs no storage. */
export type Passkey = { credentialId: Buffer; privateKey: KeyObject; publicKey: KeyObject }

export function passkeyOf({ seed }: Pick<SigningKey, 'seed'>): Passkey {
  const derive = (what: string) => createHmac('sha256', seed).update(what).digest()
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(derive('passkey'))
  const point = pair.getPublicKey()
  const text = (bytes: Buffer) => bytes.toString('base64url')
  const privateKey = createPrivateKey({
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: text(pair.getPrivateKey()),
      x: text(point.subarray(1, 33)),
      y: text(point.subarray(33)),
    },
    format: 'jwk',
  })
  return {
    credentialId: derive('passkey credential').subarray(0, 16),
    privateKey,
    publicKey: createPublicKey(privateKey),
  }
}
