import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'

const ed25519Pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const x25519Pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex')

/** A curve25519 key that agrees (X25519) and signs (XEdDSA); everything follows from the 32-byte seed. */
export type SigningKey = {
  seed: Buffer
  private: Buffer
  public: Buffer
  sign: (message: Uint8Array) => Buffer
}

/**
 * XEdDSA signs with the Ed25519 twin of an X25519 key. Starting from an Ed25519 seed instead gives the same
 * pair of keys, and OpenSSL can sign: 0.1 ms where the pure JavaScript signer takes 8 ms.
 */
export function signingKeyFromSeed(seed: Buffer): SigningKey {
  const edPrivate = createPrivateKey({
    key: Buffer.concat([ed25519Pkcs8, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const scalar = clamp(createHash('sha512').update(seed).digest().subarray(0, 32))
  const edPublic = rawPublicKey(edPrivate)
  const signBit = (edPublic[31] ?? 0) & 0x80
  return {
    seed,
    private: scalar,
    public: rawPublicKey(
      createPrivateKey({ key: Buffer.concat([x25519Pkcs8, scalar]), format: 'der', type: 'pkcs8' }),
    ),
    sign: (message) => {
      const signature = sign(null, message, edPrivate)
      // The verifier knows only the Montgomery form, which has lost the sign: it rides in the last byte.
      signature[63] = (signature[63] ?? 0) | signBit
      return signature
    },
  }
}

function clamp(scalar: Buffer): Buffer {
  const clamped = Buffer.from(scalar)
  clamped[0] = (clamped[0] ?? 0) & 248
  clamped[31] = ((clamped[31] ?? 0) & 127) | 64
  return clamped
}

function rawPublicKey(key: Parameters<typeof createPublicKey>[0]): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}
