import { isDeepStrictEqual } from 'node:util'

/** A value of which one part changes more often than the other. */
export type Parts = { frame: Buffer; steps: Buffer }

/** What libsignal stores of the sessions with one device of a contact. Bytes are base64. */
export type SessionRecord = { _sessions: { [baseKey: string]: Session }; version: string }

type Session = {
  registrationId: number
  currentRatchet: {
    ephemeralKeyPair: { pubKey: string; privKey: string }
    lastRemoteEphemeralKey: string
    previousCounter: number
    rootKey: string
  }
  indexInfo: {
    baseKey: string
    baseKeyType: number
    /** -1 while the session is open. */
    closed: number
    used: number
    created: number
    remoteIdentityKey: string
  }
  _chains: { [ephemeralKey: string]: Chain }
  pendingPreKey?: { signedKeyId: number; baseKey: string; preKeyId?: number }
}

export type Chain = {
  /** Without a key the chain is at its end. */
  chainKey: { counter: number; key: string | undefined }
  chainType: number
  /** Of messages that have not arrived. */
  messageKeys: { [counter: string]: string }
}

const version = 'v1'

/** `steps` has what a further message of a chain changes. Its length changes only with the frame. */
export function encodeSession({ _sessions }: SessionRecord): Parts {
  const [frame, steps] = [makeByteWriter(), makeByteWriter()]

  function writeChain(ephemeralKey: string, { chainKey, chainType, messageKeys }: Chain, moving: ByteWriter) {
    frame.base64(ephemeralKey)
    frame.byte(chainType)
    frame.byte(chainKey.key === undefined ? 0 : 1)
    if (chainKey.key === undefined) frame.int32(chainKey.counter)
    else {
      moving.int32(chainKey.counter)
      moving.base64(chainKey.key)
    }
    const keys = Object.entries(messageKeys)
    frame.int32(keys.length)
    for (const [counter, key] of keys) {
      frame.int32(Number(counter))
      frame.base64(key)
    }
  }

  function writePendingPreKey({ signedKeyId, baseKey, preKeyId }: NonNullable<Session['pendingPreKey']>) {
    frame.int32(signedKeyId)
    frame.base64(baseKey)
    if (preKeyId !== undefined) frame.int32(preKeyId)
  }

  function writeSession({ registrationId, currentRatchet, indexInfo, pendingPreKey, _chains }: Session) {
    frame.float64(indexInfo.closed)
    const moving = indexInfo.closed === -1 ? steps : frame
    moving.float64(indexInfo.used)
    frame.float64(indexInfo.created)
    frame.base64(indexInfo.baseKey)
    frame.byte(indexInfo.baseKeyType)
    frame.base64(indexInfo.remoteIdentityKey)
    frame.float64(registrationId)
    frame.base64(currentRatchet.ephemeralKeyPair.pubKey)
    frame.base64(currentRatchet.ephemeralKeyPair.privKey)
    frame.base64(currentRatchet.lastRemoteEphemeralKey)
    frame.int32(currentRatchet.previousCounter)
    frame.base64(currentRatchet.rootKey)
    frame.byte(pendingPreKey ? (pendingPreKey.preKeyId === undefined ? 1 : 2) : 0)
    if (pendingPreKey) writePendingPreKey(pendingPreKey)
    const chains = Object.entries(_chains)
    frame.int32(chains.length)
    for (const [ephemeralKey, chain] of chains) writeChain(ephemeralKey, chain, moving)
  }

  const sessions = Object.values(_sessions)
  frame.int32(sessions.length)
  for (const session of sessions) writeSession(session)
  return { frame: frame.bytes(), steps: steps.bytes() }
}

export function decodeSession(parts: Parts): SessionRecord {
  const [frame, steps] = [makeByteReader(parts.frame), makeByteReader(parts.steps)]
  const times = <Value>(count: number, read: () => Value) => Array.from({ length: count }, read)

  const readPendingPreKey = (hasPreKey: boolean) => ({
    signedKeyId: frame.int32(),
    baseKey: frame.base64(),
    ...(hasPreKey && { preKeyId: frame.int32() }),
  })

  function readChain(moving: ByteReader): [string, Chain] {
    const [ephemeralKey, chainType, hasKey] = [frame.base64(), frame.byte(), frame.byte() === 1]
    const counter = hasKey ? moving.int32() : frame.int32()
    const key = hasKey ? moving.base64() : undefined
    const keys = times(frame.int32(), () => [String(frame.int32()), frame.base64()] as const)
    return [ephemeralKey, { chainKey: { counter, key }, chainType, messageKeys: Object.fromEntries(keys) }]
  }

  function readSession(): [string, Session] {
    const closed = frame.float64()
    const moving = closed === -1 ? steps : frame
    const used = moving.float64()
    const created = frame.float64()
    const [baseKey, baseKeyType, remoteIdentityKey] = [frame.base64(), frame.byte(), frame.base64()]
    const session = {
      registrationId: frame.float64(),
      currentRatchet: {
        ephemeralKeyPair: { pubKey: frame.base64(), privKey: frame.base64() },
        lastRemoteEphemeralKey: frame.base64(),
        previousCounter: frame.int32(),
        rootKey: frame.base64(),
      },
      indexInfo: { baseKey, baseKeyType, closed, used, created, remoteIdentityKey },
    }
    const pending = frame.byte()
    const pendingPreKey = pending > 0 && { pendingPreKey: readPendingPreKey(pending === 2) }
    const _chains = Object.fromEntries(times(frame.int32(), () => readChain(moving)))
    return [baseKey, { ...session, ...pendingPreKey, _chains }]
  }

  return { _sessions: Object.fromEntries(times(frame.int32(), readSession)), version }
}

/** Whether nothing of the record is lost in its encoding: another version of libsignal may store more. */
export function isEncodedBy(parts: Parts, record: SessionRecord): boolean {
  return isDeepStrictEqual(decodeSession(parts), record)
}

/** Reads what `makeByteWriter` wrote, in the same order. */
type ByteReader = { byte(): number; int32(): number; float64(): number; base64(): string }

function makeByteReader(buffer: Buffer): ByteReader {
  let position = 0
  const values: string[] = []

  function skip(size: number): number {
    const at = position
    position += size
    return at
  }

  return {
    byte: () => buffer.readUInt8(skip(1)),
    int32: () => buffer.readInt32LE(skip(4)),
    float64: () => buffer.readDoubleLE(skip(8)),
    base64() {
      const size = buffer.readUInt8(skip(1))
      if (size > lengthMax) return values[size - lengthMax - 1] ?? ''
      const text = buffer.toString('base64', skip(size), position)
      values.push(text)
      return text
    },
  }
}

type ByteWriter = {
  /** From 0 to 255. */
  byte(value: number): void
  int32(value: number): void
  float64(value: number): void
  /** Bytes that are given as base64, 239 at most. A value of which the first sixteen have one becomes a reference to it. */
  base64(text: string): void
  /** What was written so far. Not a copy. */
  bytes(): Buffer
}

/** A length up to `lengthMax` is followed by the bytes. What is above refers to an earlier value. */
const lengthMax = 239
const referencesMax = 255 - lengthMax

function makeByteWriter(): ByteWriter {
  // Enough for a session with a few chains.
  let buffer = Buffer.allocUnsafe(512)
  let length = 0
  const references = new Map<string, number>()

  function reserve(size: number): void {
    if (length + size <= buffer.length) return
    const larger = Buffer.allocUnsafe(2 * (length + size))
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }

  function byte(value: number): void {
    reserve(1)
    length = buffer.writeUInt8(value, length)
  }

  return {
    byte,
    int32(value) {
      reserve(4)
      length = buffer.writeInt32LE(value, length)
    },
    float64(value) {
      reserve(8)
      length = buffer.writeDoubleLE(value, length)
    },
    base64(text) {
      const reference = references.get(text)
      if (reference !== undefined) return byte(reference)
      if (references.size < referencesMax) references.set(text, lengthMax + 1 + references.size)
      const size = Buffer.byteLength(text, 'base64')
      if (size > lengthMax) throw new RangeError('A value is too long')
      byte(size)
      reserve(size)
      length += buffer.write(text, length, 'base64')
    },
    bytes: () => buffer.subarray(0, length),
  }
}
