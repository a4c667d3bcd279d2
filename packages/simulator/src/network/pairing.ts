import type { Connection } from '../wire/connection.ts'
import type { RefreshMoment } from './faults.ts'
import type { Device, KeyBundle, KeyPair, Phone } from './phone.ts'
import type { ClientVersion } from './web-version.ts'

/** A connection that shows a QR code, or whose code was scanned and that has not signed yet. */
export type Pairing = {
  connection: Connection
  noiseKey: Buffer
  bundle: KeyBundle
  platform: string
  version: ClientVersion
  wantsFullHistory: boolean
  readsInlineHistory: boolean
  refs: string[]
  /** Of the stanza with which it was given them. */
  refsId: string
  /** When WhatsApp retires the secret of its QR codes, if it does. */
  refresh: RefreshMoment | undefined
  secrets: Secrets
  /** Notifications that it has not acknowledged, by id. */
  notified: Map<string, Notified>
  isLinked: boolean
  scanned: Scanned | undefined
  linkCode: LinkCode | undefined
  passkey: PasskeyStep | undefined
}

/** `atMs`: time of the process. */
type Notified = { type: string; atMs: number; acknowledged: Promise<void>; acknowledge: () => void }

/** As QR codes had them, base64. `newFromMs`: time of the process from which scanned codes have the present one. */
type Secrets = { scanned: Set<string>; retired: Set<string>; newFromMs: number }

/** The client has asked for a code to type on a phone. Its key pair is wrapped with the code. */
export type LinkCode = {
  number: string
  ref: string
  wrappedCompanionKey: Buffer
  typed: TypedCode | undefined
}

/** A person has typed a code. */
type TypedCode = {
  phone: Phone
  /** Of this pairing only. */
  keyPair: KeyPair
  companionKey: Buffer
  linked: (device: Device) => void
  failed: (error: Error) => void
}

/** A phone has scanned, and WhatsApp has asked the companion for the passkey of the account. */
export type PasskeyStep = {
  phone: Phone
  challenge: string
  ref: string
  handoff: Handoff
  /** Of this pairing only. */
  keyPair: KeyPair
  nonce: Buffer
  /** What the companion has promised with its assertion. */
  commitment: { identity: Buffer; hash: Buffer } | undefined
  /** With what it encrypts its request. */
  request: { key: Buffer; deviceType: number; ref: string } | undefined
  /** Whether the companion has proven that it has the secret that the phone has scanned, and whether the phone minds. */
  proof: 'none' | 'honored' | 'ignored'
  /** It has revealed the nonce of its commitment. */
  isRevealed: boolean
  /** On the screen of the phone. */
  code: string | undefined
  /** Links the companion when the person accepts the code. Undefined unless the companion waits for that. */
  accept: (() => void) | undefined
  linked: (device: Device) => void
  failed: (error: Error) => void
}

/** What a phone knows of a companion from its scan, or from the typed code. `untilMs`: time of the process. */
type Handoff = { key: Buffer; untilMs: number }

type Scanned = {
  phone: Phone
  details: Uint8Array
  replyId: string
  linked: (device: Device) => void
  failed: (error: Error) => void
}
