import { createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { Curve, initAuthCreds, proto } from 'baileys'
import { expect, test } from 'vitest'
import { makePasskeyExchange } from '../src/session/linking/passkey-exchange.ts'

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const phone = Curve.generateKeyPair()

function identityOf(nonce: Uint8Array, publicKey: Uint8Array = phone.public): Uint8Array {
  return proto.PrimaryEphemeralIdentity.encode({ publicKey, nonce }).finish()
}

/** The nonce with which both sides show the code that stands for these 40 bits. */
function nonceFor(bits: Buffer, companionNonce: Uint8Array): Buffer {
  const digest = sha256(companionNonce, phone.public)
  return Buffer.from(bits.map((byte, at) => byte ^ (digest[at] ?? 0)))
}

test('promises its key and its nonce before it knows those of the phone', () => {
  const { prologue, nonce } = makePasskeyExchange('ref')
  const { companionEphemeralIdentity, commitment } = proto.ProloguePayload.decode(prologue)
  const identity = Buffer.from(companionEphemeralIdentity ?? [])
  expect(Buffer.from(commitment?.hash ?? [])).toEqual(sha256(identity, nonce))
  expect(proto.CompanionEphemeralIdentity.decode(identity)).toMatchObject({ deviceType: 1, ref: 'ref' })
})

test.each([
  ['0000000000', '11111111'],
  ['ffffffffff', 'ZZZZZZZZ'],
  // 00001 00010 00011 … 01000
  ['08864298e8', '23456789'],
  // 10000 … 10111: neither I nor O.
  ['84653a56d7', 'HJKLMNPQ'],
])('shows %s as %s', (bits, code) => {
  const exchange = makePasskeyExchange('ref')
  const nonce = nonceFor(Buffer.from(bits, 'hex'), exchange.nonce)
  expect(exchange.agree(identityOf(nonce)).code).toBe(code)
})

test.each([
  ['without a key', proto.PrimaryEphemeralIdentity.encode({ nonce: randomBytes(32) }).finish()],
  ['with a short key', identityOf(randomBytes(32), phone.public.subarray(1))],
  ['with a short nonce', identityOf(randomBytes(4))],
  ['of no protobuf', Buffer.from('ffffffff', 'hex')],
])('refuses an answer of the phone %s', (_what, identity) => {
  expect(() => makePasskeyExchange('ref').agree(identity)).toThrow()
})

test('seals the keys of the device for the phone alone', () => {
  const exchange = makePasskeyExchange('ref')
  const creds = initAuthCreds()
  const sealed = exchange.agree(identityOf(randomBytes(32))).seal(creds)
  const { encryptedPayload, iv } = proto.EncryptedPairingRequest.decode(sealed)

  const identity = proto.ProloguePayload.decode(exchange.prologue).companionEphemeralIdentity ?? []
  const { publicKey } = proto.CompanionEphemeralIdentity.decode(Buffer.from(identity))
  const secret = Curve.sharedKey(phone.private, publicKey ?? new Uint8Array())
  const info = 'Pairing Information Encryption Key'
  const key = hkdfSync('sha256', secret, 'Companion Pairing 1 with ref ref', info, 32)
  const payload = Buffer.from(encryptedPayload ?? [])
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), Buffer.from(iv ?? []))
  decipher.setAuthTag(payload.subarray(-16))
  const request = Buffer.concat([decipher.update(payload.subarray(0, -16)), decipher.final()])
  expect(proto.PairingRequest.decode(request)).toEqual(
    proto.PairingRequest.create({
      companionPublicKey: Buffer.from(creds.noiseKey.public),
      companionIdentityKey: Buffer.from(creds.signedIdentityKey.public),
      advSecret: Buffer.from(creds.advSecretKey, 'base64'),
    }),
  )
})
