import { decodeAppState, encodeAppState } from './app-state.ts'
import { makeDevice } from './device.ts'
import { type Device, type KeyBundle, makePhone, type Phone } from './phone.ts'

const encode = (bytes: Buffer): string => bytes.toString('base64')
const decode = (text: string): Buffer => Buffer.from(text, 'base64')

type StoredDevice = ReturnType<typeof encodeDevice>
export type StoredPhone = ReturnType<typeof encodePhone>
type StoredSessions = ReturnType<typeof encodeSessions>

export function encodePhone(phone: Phone) {
  return {
    number: phone.number,
    seed: encode(phone.identity.seed),
    registrationId: phone.registrationId,
    nextPreKeyId: phone.nextPreKeyId,
    nextDeviceId: phone.nextDeviceId,
    saltsRenewed: phone.saltsRenewed,
    appState: encodeAppState(phone.appState),
    devices: [...phone.devices.values()].map(encodeDevice),
  }
}

export function decodePhone(stored: StoredPhone): Phone {
  const phone = makePhone(stored.number, {
    ...stored,
    seed: decode(stored.seed),
    appState: decodeAppState(stored.appState ?? []),
  })
  for (const device of stored.devices) phone.devices.set(device.id, decodeDevice(phone, device))
  return phone
}

export function encodeSessions(phone: Phone) {
  return {
    sessions: Object.fromEntries(phone.sessions),
    preKeys: [...phone.preKeys].map(([id, pair]) => [id, encode(pair.private), encode(pair.public)] as const),
    nextPreKeyId: phone.nextPreKeyId,
  }
}

export function decodeSessions(phone: Phone, stored: unknown): void {
  if (!stored) return
  const { sessions, preKeys, nextPreKeyId } = stored as StoredSessions
  phone.sessions = new Map(Object.entries(sessions))
  phone.preKeys = new Map(
    preKeys.map(([id, secret, open]) => [id, { private: decode(secret), public: decode(open) }]),
  )
  phone.nextPreKeyId = Math.max(phone.nextPreKeyId, nextPreKeyId)
}

function encodeDevice(device: Device) {
  const { identity, registrationId, signedPreKey } = device.bundle
  return {
    id: device.id,
    platform: device.platform,
    wantsFullHistory: device.wantsFullHistory,
    readsInlineHistory: device.readsInlineHistory,
    linkedAt: device.linkedAt,
    noiseKey: encode(device.noiseKey),
    registrationId,
    identity: encode(identity),
    signedPreKey: {
      id: signedPreKey.id,
      public: encode(signedPreKey.public),
      signature: encode(signedPreKey.signature),
    },
    preKeys: [...device.preKeys].map(([id, key]) => [id, encode(key)] as const),
    historyReceived: device.historyReceived,
  }
}

function decodeDevice(phone: Phone, stored: StoredDevice): Device {
  const { id, public: key, signature } = stored.signedPreKey
  const bundle: KeyBundle = {
    registrationId: stored.registrationId,
    identity: decode(stored.identity),
    signedPreKey: { id, public: decode(key), signature: decode(signature) },
  }
  return makeDevice(
    {
      phone,
      id: stored.id,
      platform: stored.platform,
      wantsFullHistory: stored.wantsFullHistory ?? false,
      readsInlineHistory: stored.readsInlineHistory ?? false,
      linkedAt: stored.linkedAt,
      noiseKey: decode(stored.noiseKey),
      bundle,
    },
    {
      preKeys: new Map(stored.preKeys.map(([keyId, value]) => [keyId, decode(value)])),
      historyReceived: stored.historyReceived,
    },
  )
}
