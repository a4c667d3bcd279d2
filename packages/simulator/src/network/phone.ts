import { randomBytes, randomInt } from 'node:crypto'
import type { Connection } from '../wire/connection.ts'
import type { Node } from '../wire/node.ts'
import { type SigningKey, signingKeyFromSeed } from '../wire/signing-key.ts'
import type { AppStatePatch } from './app-state.ts'
import { type Chat, emptyChat } from './chat.ts'
import { evictOldest } from './evict-oldest.ts'
import { makeNewChats, type NewChats } from './new-chats.ts'
import type { Past } from './past.ts'

export type KeyPair = { private: Buffer; public: Buffer }
export type SignedPreKey = { id: number; keyPair: KeyPair; signature: Buffer }

/** A handset with WhatsApp: an account, its device 0, and its messages. */
export type Phone = {
  number: string
  identity: SigningKey
  registrationId: number
  /** Created on first use: most phones of a load test never need one. */
  signedPreKey: SignedPreKey | undefined
  preKeys: Map<number, KeyPair>
  nextPreKeyId: number
  /** libsignal session records in their serialised form, by address `number.device`. */
  sessions: Map<string, object>
  devices: Map<number, Device>
  nextDeviceId: number
  chat: Chat
  /** Numbers whose companions asked which devices this phone has: they are told when its devices or identity change. */
  watchers: Set<string>
  /** Numbers that last wrote to the LID of this phone: it answers them from there. */
  lidContacts: Set<string>
  /** Messages that the servers accepted for this phone, by sender and id, to detect repeats without decryption. */
  accepted: Set<string>
  /** How often this handset asked for a message again, by sender and id. */
  retries: Map<string, number>
  /** Who was shown to be writing to the person, the newest. Kept in memory only. */
  typing: TypingNote[]
  /** With people that it has no chat with. Kept in memory only. */
  newChats: NewChats
  /** WhatsApp links companions only with the passkey of the person. Kept in memory only. */
  isPasskeyRequired: boolean
  /** What its new companions get as history. Kept in memory only. */
  past: Past | undefined
  /** WhatsApp shows the account only by its LID. Kept in memory only, as its user name. */
  hidesNumber: boolean
  username: string | undefined
  /** The settings that the person made, change by change. */
  appState: AppStatePatch[]
  /** How often WhatsApp has given this account another salt for its first messages. */
  saltsRenewed: number
  /** Resolves when the handset has read all messages so far. It reads them one at a time, in order of arrival. */
  inbox: Promise<void>
}

/** `recording`: a voice message. `paused`: no longer. */
export type TypingNote = { from: string; state: 'composing' | 'recording' | 'paused'; at: string }

/** The public half of a Signal identity, as uploaded. */
export type KeyBundle = {
  registrationId: number
  identity: Buffer
  signedPreKey: { id: number; public: Buffer; signature: Buffer }
}

/** A linked companion of a phone, as the servers of WhatsApp know it. */
export type Device = {
  phone: Phone
  id: number
  platform: string
  linkedAt: string
  noiseKey: Buffer
  bundle: KeyBundle
  preKeys: Map<number, Buffer>
  /** The client asked for all of the history when it was linked, not only for its newer part. */
  wantsFullHistory: boolean
  /** It said then that it reads a history that is part of a message, and not only one in a file. */
  readsInlineHistory: boolean
  /** The client has confirmed the history that it gets after its first login. */
  historyReceived: boolean
  connection: Connection | undefined
  /** False until stanzas are sent as they come: at its login, the client gets what has waited first. */
  active: boolean
  /** The client has said, since its login, that it is ready for stanzas. */
  isAnnounced: boolean
  /** What waited at its login, until all of it was handed out. */
  handout: Handout | undefined
  /** Stanzas that the client has not acknowledged, in order. They are sent again at the next login. */
  pending: Map<string, Node>
  /** When each of them was sent over the current connection. */
  sentAtMs: Map<string, number>
  /** The last message that was sent to it. */
  lastMessage: { key: string; stanza: Node } | undefined
  /** Since the start of the simulator. */
  logins: { ok: number; refused: number }
  /** Stanzas that the client has refused with an error. They come first at the next login and hold back the others. */
  refused: Set<string>
  /** Called once, when the client has logged in and is active. */
  whenActive: Array<() => void>
}

/** The keys of the stanzas that waited for a client at its login, and how many of them it was sent. */
type Handout = { due: ReadonlySet<string>; sent: number }

export type StoredIdentity = Pick<Phone, 'registrationId' | 'nextPreKeyId' | 'nextDeviceId'> & {
  seed: Buffer
  saltsRenewed?: number
  appState?: AppStatePatch[]
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
    watchers: new Set(),
    lidContacts: new Set(),
    accepted: new Set(),
    retries: new Map(),
    typing: [],
    newChats: makeNewChats(),
    isPasskeyRequired: false,
    past: undefined,
    hidesNumber: false,
    username: undefined,
    appState: stored?.appState ?? [],
    saltsRenewed: stored?.saltsRenewed ?? 0,
    inbox: Promise.resolve(),
  }
}

/** WhatsApp is installed again on the phone: new keys, and no session with anybody. */
export function renewIdentity(phone: Phone): void {
  phone.identity = signingKeyFromSeed(randomBytes(32))
  phone.registrationId = randomInt(1, 16_380)
  phone.signedPreKey = undefined
  phone.preKeys.clear()
  phone.sessions.clear()
  phone.retries.clear()
}

const acceptedMax = 200_000

export function noteAccepted(phone: Phone, key: string): void {
  phone.accepted.add(key)
  evictOldest(phone.accepted, acceptedMax)
}

const deviceIdMax = 250
// Clients treat device 99 as hosted by Meta.
const hostedDeviceId = 99

/** Ids increase with every link, so that no client mistakes a new companion for an old one. */
export function takeDeviceId(phone: Phone): number {
  let id = phone.nextDeviceId
  while (id === hostedDeviceId || phone.devices.has(id)) id = (id % deviceIdMax) + 1
  phone.nextDeviceId = (id % deviceIdMax) + 1
  return id
}
