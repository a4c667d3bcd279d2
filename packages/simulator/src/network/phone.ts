import { randomBytes, randomInt } from 'node:crypto'
import type { Connection } from '../wire/connection.ts'
import type { Node } from '../wire/node.ts'
import { type SigningKey, signingKeyFromSeed } from '../wire/signing-key.ts'
import { type Chat, emptyChat } from './chat.ts'
import { evictOldest } from './evict-oldest.ts'

export type KeyPair = { private: Buffer; public: Buffer }
export type SignedPreKey = { id: number; keyPair: KeyPair; signature: Buffer }

/** A handset with WhatsApp: an account, device 0 of it, and what it has seen. */
export type Phone = {
  number: string
  identity: SigningKey
  registrationId: number
  /** Made when somebody first asks for it: most phones of a load test never need one. */
  signedPreKey: SignedPreKey | undefined
  preKeys: Map<number, KeyPair>
  nextPreKeyId: number
  /** libsignal session records in their serialised form, by address `number.device`. */
  sessions: Map<string, object>
  devices: Map<number, Device>
  nextDeviceId: number
  chat: Chat
  /** What the servers took for this phone, by sender and id: they know a repeat even if nobody can read it. */
  accepted: Set<string>
  /** How often this handset asked for a message anew, by sender and id. */
  retries: Map<string, number>
  /** The handset reads one message after the other, in order of arrival. */
  inbox: Promise<void>
}

/** The public half of a Signal identity, as uploaded. */
export type KeyBundle = {
  registrationId: number
  identity: Buffer
  signedPreKey: { id: number; public: Buffer; signature: Buffer }
}

/** A linked companion of a phone: what WhatsApp's servers know of it. */
export type Device = {
  phone: Phone
  id: number
  platform: string
  linkedAt: string
  noiseKey: Buffer
  bundle: KeyBundle
  preKeys: Map<number, Buffer>
  /** The client has confirmed the history that follows its first login. */
  historyReceived: boolean
  connection: Connection | undefined
  /** Stanzas flow: false until the client has asked for them after its login. */
  active: boolean
  /** What the client has not acknowledged yet, in order; it is sent again at the next login. */
  pending: Map<string, Node>
  /** When each of them was sent over the present connection. */
  sentAtMs: Map<string, number>
  /** Called once, when the client has logged in and listens. */
  whenActive: Array<() => void>
}

export type StoredIdentity = Pick<Phone, 'registrationId' | 'nextPreKeyId' | 'nextDeviceId'> & {
  seed: Buffer
}

export function makePhone(number: string, stored?: StoredIdentity): Phone {
  return {
    number,
    identity: signingKeyFromSeed(stored?.seed ?? randomBytes(32)),
    registrationId: stored?.registrationId ?? randomInt(1, 16_380),
    signedPreKey: undefined,
    preKeys: new Map(),
    nextPreKeyId: stored?.nextPreKeyId ?? 1,
    sessions: new Map(),
    devices: new Map(),
    nextDeviceId: stored?.nextDeviceId ?? 1,
    chat: emptyChat(),
    accepted: new Set(),
    retries: new Map(),
    inbox: Promise.resolve(),
  }
}

const acceptedMax = 200_000

export function noteAccepted(phone: Phone, key: string): void {
  phone.accepted.add(key)
  evictOldest(phone.accepted, acceptedMax)
}

const deviceIdMax = 250
// Clients take device 99 for one that is hosted by Meta.
const hostedDeviceId = 99

/** Ids rise with every link, so that nobody mistakes a new companion for an old one. */
export function takeDeviceId(phone: Phone): number {
  let id = phone.nextDeviceId
  while (id === hostedDeviceId || phone.devices.has(id)) id = (id % deviceIdMax) + 1
  phone.nextDeviceId = (id % deviceIdMax) + 1
  return id
}
