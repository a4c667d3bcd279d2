import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import { BufferJSON, proto } from 'baileys'
import type { MasterKey, MasterKeys } from '../../config/master-keys.ts'
import {
  decodeSession,
  encodeSession,
  isEncodedBy,
  type Parts,
  type SessionRecord,
} from './session-record.ts'

/**
 * Encrypts the stored values of one device: AES-256-GCM under a key per device (HKDF of the master key), so that no key
 * gets near 2^32 random nonces. A box is 12 nonce, 16 tag, ciphertext. Layout of a value: 1 version, 4 id of the master key,
 * box. Layout of a value in two parts: 1 version, 4 id of the master key, 4 length of the first box, two boxes.
 * `context` (type and id of the value) is authenticated: a value copied to another place does not open. The second box
 * opens only beside the first one that it was sealed with.
 */
export type Vault = {
  seal(plaintext: Buffer, context: string): Buffer
  /** Throws when the value was changed or moved, or was sealed under an unknown master key. */
  open(sealed: Buffer, context: string): Buffer
  /** `known`: a frame that was sealed before. If it is the same, its bytes are used again. */
  sealParts(parts: Parts, context: string, known?: SealedFrame): { sealed: Buffer; frame: SealedFrame }
  /** Throws as `open` does. `known` is undefined when the frame is to be sealed again with the current master key. */
  openParts(sealed: Buffer, context: string): Parts & { known: SealedFrame | undefined }
  /** Encrypts a value of either layout with the current master key. */
  reseal(sealed: Buffer, context: string): Buffer
}

/** As strings of one byte a character: many are kept in memory, and a small buffer takes several times its length. */
export type SealedFrame = { plain: string; sealed: string }

const [whole, inParts] = [1, 2]
const headerBytes = 1 + 4
const [nonceBytes, tagBytes] = [12, 16]
const boxMin = nonceBytes + tagBytes
const noncesAtOnce = 256

/** Whether the value was sealed in two parts. */
export function isInParts(sealed: Buffer): boolean {
  return sealed[0] === inParts
}

export function makeVault(masterKeys: MasterKeys, deviceId: number): Vault {
  const { current, all } = masterKeys
  const currentId = Buffer.from(current.id, 'hex')
  const derived = new Map<string, Buffer>()
  const aad = (context: string) => Buffer.from(`${deviceId}|${context}`)
  const frameAad = (context: string) => aad(`${context}|frame`)
  const stepsAad = (context: string, frameBox: Buffer) =>
    Buffer.concat([aad(`${context}|steps|`), frameBox.subarray(nonceBytes, boxMin)])

  function keyOf({ id, bytes }: MasterKey): Buffer {
    const known = derived.get(id)
    if (known) return known
    const key = Buffer.from(hkdfSync('sha256', bytes, Buffer.alloc(0), `wagate device ${deviceId}`, 32))
    derived.set(id, key)
    return key
  }

  function openingKeyOf(sealed: Buffer, version: number): Buffer {
    if (sealed.length < headerBytes + boxMin || sealed[0] !== version) {
      throw new Error('A stored credential has an unknown format')
    }
    const id = sealed.toString('hex', 1, headerBytes)
    const masterKey = all.get(id)
    if (!masterKey) throw new Error(`A stored credential was encrypted with another master key (${id})`)
    return keyOf(masterKey)
  }

  const vault: Vault = {
    seal: (plaintext, context) =>
      Buffer.concat([Buffer.of(whole), currentId, sealBox(keyOf(current), aad(context), plaintext)]),

    open: (sealed, context) =>
      openBox(openingKeyOf(sealed, whole), aad(context), sealed.subarray(headerBytes)),

    sealParts({ frame, steps }, context, known) {
      const plain = frame.toString('latin1')
      const isKnown = known?.plain === plain
      const start = isKnown ? Buffer.from(known.sealed, 'latin1') : sealFrame(frame, context)
      const stepsBox = sealBox(keyOf(current), stepsAad(context, start.subarray(headerBytes + 4)), steps)
      return {
        sealed: Buffer.concat([start, stepsBox]),
        frame: isKnown ? known : { plain, sealed: start.toString('latin1') },
      }
    },

    openParts(sealed, context) {
      const key = openingKeyOf(sealed, inParts)
      const end = headerBytes + 4 + sealed.readUInt32LE(headerBytes)
      const frameBox = sealed.subarray(headerBytes + 4, end)
      const frame = openBox(key, frameAad(context), frameBox)
      const steps = openBox(key, stepsAad(context, frameBox), sealed.subarray(end))
      const isCurrent = currentId.equals(sealed.subarray(1, headerBytes))
      const known = { plain: frame.toString('latin1'), sealed: sealed.toString('latin1', 0, end) }
      return { frame, steps, known: isCurrent ? known : undefined }
    },

    reseal: (sealed, context) =>
      isInParts(sealed)
        ? vault.sealParts(vault.openParts(sealed, context), context).sealed
        : vault.seal(vault.open(sealed, context), context),
  }
  return vault

  function sealFrame(frame: Buffer, context: string): Buffer {
    const box = sealBox(keyOf(current), frameAad(context), frame)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(box.length)
    return Buffer.concat([Buffer.of(inParts), currentId, length, box])
  }
}

function sealBox(key: Buffer, aad: Buffer, plaintext: Buffer): Buffer {
  const nonce = makeNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad)
  const body = cipher.update(plaintext)
  // Returns nothing: this mode does not pad.
  cipher.final()
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** Of random bytes for many: a call for twelve takes as long as the encryption. */
let nonces: Buffer = Buffer.alloc(0)

function makeNonce(): Buffer {
  if (nonces.length < nonceBytes) nonces = randomBytes(noncesAtOnce * nonceBytes)
  const nonce = nonces.subarray(0, nonceBytes)
  nonces = nonces.subarray(nonceBytes)
  return nonce
}

function openBox(key: Buffer, aad: Buffer, box: Buffer): Buffer {
  if (box.length < boxMin) throw new Error('A stored credential has an unknown format')
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, nonceBytes))
    .setAAD(aad)
    .setAuthTag(box.subarray(nonceBytes, boxMin))
  const plaintext = decipher.update(box.subarray(boxMin))
  // Throws when the tag does not fit.
  decipher.final()
  return plaintext
}

/** The authenticated context of Baileys' credentials and keys. */
export function authContext(type: string, id: string): string {
  return `${type}|${id}`
}

/** The authenticated context of an uploaded media content. */
export function uploadContext(messageId: string): string {
  return `upload|${messageId}`
}

/** `frame`: of a session in parts, for the next time it is sealed. */
type Sealed = { sealed: Buffer; frame?: SealedFrame | undefined }
type Opened = { value: unknown; frame?: SealedFrame | undefined }

/** A session goes in parts if the format allows it: the statement that stores it logs only what has changed. */
export function sealAuthValue(
  { vault, format }: { vault: Vault; format: SignalFormat },
  { type, id, value }: { type: string; id: string; value: unknown },
  known?: SealedFrame,
): Sealed {
  const context = authContext(type, id)
  const parts = type === 'session' && format === 2 ? sessionParts(value as SessionRecord, known) : undefined
  return parts ? vault.sealParts(parts, context, known) : { sealed: vault.seal(encode(value), context) }
}

export function openAuthValue(vault: Vault, type: string, id: string, sealed: Buffer): Opened {
  const context = authContext(type, id)
  if (isInParts(sealed)) {
    const { known, ...parts } = vault.openParts(sealed, context)
    return { value: decodeSession(parts), frame: known }
  }
  const value = decode(vault.open(sealed, context))
  return {
    value: type === 'app-state-sync-key' ? proto.Message.AppStateSyncKeyData.fromObject(value) : value,
  }
}

/**
 * Undefined for a record that its encoding would change: another version of libsignal may store more. One check for each
 * frame is enough, because the version does not change while the process runs.
 */
function sessionParts(record: SessionRecord, known: SealedFrame | undefined): Parts | undefined {
  try {
    const parts = encodeSession(record)
    return known?.plain === parts.frame.toString('latin1') || isEncodedBy(parts, record) ? parts : undefined
  } catch {
    return undefined
  }
}

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value, BufferJSON.replacer))
}

function decode(bytes: Buffer) {
  return JSON.parse(bytes.toString(), BufferJSON.reviver)
}
