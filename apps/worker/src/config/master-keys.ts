import { createHash } from 'node:crypto'

/** The keys that all encryption at rest depends on. There are several during a rotation. */
export type MasterKeys = {
  /** Encrypts new values. */
  current: MasterKey
  /** All keys that stored values may be encrypted with, including the current one. */
  all: ReadonlyMap<string, MasterKey>
}

/** `id` reveals nothing about the key: it may be shown, and is part of every encrypted value. */
export type MasterKey = { id: string; bytes: Buffer }

export function readMasterKeys(currentBytes: Buffer, otherBytes: Buffer[] = []): MasterKeys {
  const current = { id: idOf(currentBytes), bytes: currentBytes }
  const others = otherBytes.map((bytes) => ({ id: idOf(bytes), bytes }))
  return { current, all: new Map([...others, current].map((key) => [key.id, key])) }
}

/** Eight hexadecimal characters. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('wagate key id').update(key).digest('hex').slice(0, 8)
}
