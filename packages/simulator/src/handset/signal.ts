import { createHmac } from 'node:crypto'
import { Curve, encodeBigEndian, KEY_BUNDLE_TYPE } from 'baileys'
import { ProtocolAddress, SessionBuilder, SessionCipher, SessionRecord, type SignalStorage } from 'libsignal'
import { evictOldest } from '../network/evict-oldest.ts'
import type { Device, KeyPair, Phone, SignedPreKey } from '../network/phone.ts'
import { type Node, node } from '../wire/node.ts'
import { signingKeyFromSeed } from '../wire/signing-key.ts'
import './intact-sessions.ts'

const unusedPreKeysMax = 200

export type Ciphertext = { type: 'pkmsg' | 'msg'; body: Buffer }

const withTypeByte = (key: Uint8Array): Buffer => Buffer.concat([KEY_BUNDLE_TYPE, key])

/** Encrypts for one companion. Without a session it starts one from the uploaded keys. */
export async function encryptFor(phone: Phone, device: Device, plaintext: Buffer): Promise<Ciphertext> {
  const address = addressOf(device.phone.number, device.id)
  const storage = storageOf(phone)
  const record = await storage.loadSession(address.toString())
  if (!record?.haveOpenSession()) await startSession(storage, address, device)
  const { type, body } = await new SessionCipher(storage, address).encrypt(plaintext)
  return { type: type === 3 ? 'pkmsg' : 'msg', body: Buffer.from(body, 'binary') }
}

/** Throws when no session of this handset can read it. */
export function decryptFrom(
  phone: Phone,
  number: string,
  deviceId: number,
  sealed: Ciphertext,
): Promise<Buffer> {
  const cipher = new SessionCipher(storageOf(phone), addressOf(number, deviceId))
  return sealed.type === 'pkmsg'
    ? cipher.decryptPreKeyWhisperMessage(sealed.body)
    : cipher.decryptWhisperMessage(sealed.body)
}

/** Starts another session. The phone keeps the former one: messages of it may still be on their way. */
export function renewSession(phone: Phone, device: Device): Promise<void> {
  return startSession(storageOf(phone), addressOf(device.phone.number, device.id), device)
}

/** The session is lost, with all former ones. */
export function forgetSession(phone: Phone, number: string, deviceId: number): void {
  phone.sessions.delete(addressOf(number, deviceId).toString())
}

/** The keys that a contact needs to write to this handset, with a new one-time key while few are unused. */
export function handsetBundle(phone: Phone): Node[] {
  const signed = signedPreKeyOf(phone)
  const [preKeyId, preKey] = newPreKey(phone)
  return [
    node('registration', {}, encodeBigEndian(phone.registrationId)),
    node('type', {}, KEY_BUNDLE_TYPE),
    node('identity', {}, phone.identity.public),
    node('skey', {}, [
      node('id', {}, encodeBigEndian(signed.id, 3)),
      node('value', {}, signed.keyPair.public),
      node('signature', {}, signed.signature),
    ]),
    node('key', {}, [node('id', {}, encodeBigEndian(preKeyId, 3)), node('value', {}, preKey.public)]),
  ]
}

async function startSession(storage: SignalStorage, address: ProtocolAddress, device: Device): Promise<void> {
  const { registrationId, identity, signedPreKey } = device.bundle
  const preKey = takePreKey(device)
  await new SessionBuilder(storage, address).initOutgoing({
    registrationId,
    identityKey: withTypeByte(identity),
    signedPreKey: {
      keyId: signedPreKey.id,
      publicKey: withTypeByte(signedPreKey.public),
      signature: signedPreKey.signature,
    },
    ...(preKey && { preKey: { keyId: preKey.id, publicKey: withTypeByte(preKey.public) } }),
  } as Parameters<SessionBuilder['initOutgoing']>[0])
}

/** Returns each uploaded one-time key once. When none is left, sessions start without one. */
export function takePreKey(device: Device): { id: number; public: Buffer } | undefined {
  for (const [id, key] of device.preKeys) {
    device.preKeys.delete(id)
    return { id, public: key }
  }
  return undefined
}

/** Derived from the seed of the identity, so that it need not be stored. */
function signedPreKeyOf(phone: Phone): SignedPreKey {
  if (!phone.signedPreKey) {
    const seed = createHmac('sha256', phone.identity.seed).update('signed pre-key').digest()
    const keyPair = signingKeyFromSeed(seed)
    phone.signedPreKey = { id: 1, keyPair, signature: phone.identity.sign(withTypeByte(keyPair.public)) }
  }
  return phone.signedPreKey
}

function newPreKey(phone: Phone): [number, KeyPair] {
  const pair = newKeyPair()
  const id = phone.nextPreKeyId
  phone.nextPreKeyId = (id % 0xfffffe) + 1
  phone.preKeys.set(id, pair)
  evictOldest(phone.preKeys, unusedPreKeysMax)
  return [id, pair]
}

function newKeyPair(): KeyPair {
  const pair = Curve.generateKeyPair()
  return { private: Buffer.from(pair.private), public: Buffer.from(pair.public) }
}

const addressOf = (number: string, deviceId: number): ProtocolAddress => new ProtocolAddress(number, deviceId)

const storages = new WeakMap<Phone, SignalStorage>()

function storageOf(phone: Phone): SignalStorage {
  let storage = storages.get(phone)
  if (!storage) {
    storage = makeStorage(phone)
    storages.set(phone, storage)
  }
  return storage
}

/** libsignal's view of one handset. Records are kept serialised, so that a failed decryption changes nothing. */
function makeStorage(phone: Phone): SignalStorage {
  return {
    loadSession: async (id) => {
      const stored = phone.sessions.get(id)
      return stored && SessionRecord.deserialize(stored as Uint8Array)
    },
    storeSession: async (id, record) => {
      phone.sessions.set(id, record.serialize())
    },
    isTrustedIdentity: () => true,
    loadPreKey: async (id) => {
      const pair = phone.preKeys.get(Number(id))
      return pair && { privKey: pair.private, pubKey: withTypeByte(pair.public) }
    },
    removePreKey: (id) => {
      phone.preKeys.delete(id)
    },
    loadSignedPreKey: () => {
      const { keyPair } = signedPreKeyOf(phone)
      return { privKey: keyPair.private, pubKey: withTypeByte(keyPair.public) }
    },
    getOurRegistrationId: () => phone.registrationId,
    getOurIdentity: () => ({ privKey: phone.identity.private, pubKey: withTypeByte(phone.identity.public) }),
  }
}
