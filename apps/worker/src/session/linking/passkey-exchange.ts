import { createCipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { type AuthenticationCreds, Curve, proto } from 'baileys'

/** As Baileys registers the device, with its default browser. */
const deviceType = proto.DeviceProps.PlatformType.CHROME
const alphabet = '123456789ABCDEFGHJKLMNPQRSTVWXYZ'
const codeLength = 8
const codeBits = 5 * codeLength
const [nonceBytes, ivBytes, keyBytes] = [32, 12, 32]

/**
 * What this device and the phone agree on after the passkey: a code that a person compares, and a key for the request to be
 * linked. Ours is promised in `prologue` and revealed with `nonce`, once the phone has sent its own.
 */
export type PasskeyExchange = {
  prologue: Uint8Array
  nonce: Uint8Array
  /** `identity`: the phone's. Throws when it is malformed. */
  agree(identity: Uint8Array): Agreement
}

export type Agreement = {
  /** 8 characters. */
  code: string
  /** The request to be linked with these credentials. */
  seal(creds: Pick<AuthenticationCreds, 'noiseKey' | 'signedIdentityKey' | 'advSecretKey'>): Uint8Array
}

/** `ref`: of this attempt, from WhatsApp. */
export function makePasskeyExchange(ref: string): PasskeyExchange {
  const keyPair = Curve.generateKeyPair()
  const nonce = randomBytes(nonceBytes)
  const companionEphemeralIdentity = proto.CompanionEphemeralIdentity.encode({
    publicKey: keyPair.public,
    deviceType,
    ref,
  }).finish()
  const hash = createHash('sha256').update(companionEphemeralIdentity).update(nonce).digest()

  return {
    prologue: proto.ProloguePayload.encode({ companionEphemeralIdentity, commitment: { hash } }).finish(),
    nonce,
    agree(identity) {
      const { publicKey, nonce: phoneNonce } = proto.PrimaryEphemeralIdentity.decode(identity)
      if (publicKey?.length !== keyBytes || !phoneNonce || phoneNonce.length < codeBits / 8) {
        throw new Error('The phone sent a malformed key')
      }
      const secret = Curve.sharedKey(keyPair.private, publicKey)
      const salt = `Companion Pairing ${deviceType} with ref ${ref}`
      const key = Buffer.from(
        hkdfSync('sha256', secret, salt, 'Pairing Information Encryption Key', keyBytes),
      )
      return {
        code: codeOf(nonce, publicKey, phoneNonce),
        seal: ({ noiseKey, signedIdentityKey, advSecretKey }) => {
          const request = proto.PairingRequest.encode({
            companionPublicKey: noiseKey.public,
            companionIdentityKey: signedIdentityKey.public,
            advSecret: Buffer.from(advSecretKey, 'base64'),
          }).finish()
          return encrypt(key, request)
        },
      }
    },
  }
}

/** Neither side can choose it: each has fixed its part before it saw the other's. */
function codeOf(nonce: Uint8Array, phoneKey: Uint8Array, phoneNonce: Uint8Array): string {
  const digest = createHash('sha256').update(nonce).update(phoneKey).digest()
  let bits = 0n
  for (let at = 0; at < codeBits / 8; at++) {
    bits = (bits << 8n) | BigInt((digest[at] ?? 0) ^ (phoneNonce[at] ?? 0))
  }
  let code = ''
  for (let left = codeLength - 1; left >= 0; left--)
    code += alphabet[Number((bits >> BigInt(5 * left)) & 31n)]
  return code
}

function encrypt(key: Buffer, plaintext: Uint8Array): Uint8Array {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const encryptedPayload = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  return proto.EncryptedPairingRequest.encode({ encryptedPayload, iv }).finish()
}
