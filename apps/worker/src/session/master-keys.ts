import { createHash } from 'node:crypto'

/** What everything that is encrypted at rest depends on. Several while one takes the place of another. */
export type MasterKeys = {
  /** By which values are encrypted. */
  current: MasterKey
  /** By which they may be encrypted: the current one is among them. */
  all: ReadonlyMap<string, MasterKey>
}

/** `id` says nothing of the key: it may be shown, and stands in every value. */
export type MasterKey = { id: string; bytes: Buffer }

export function readMasterKeys(config: {
  MASTER_KEY: Buffer
  MASTER_KEYS_OTHER?: Buffer[] | undefined
}): MasterKeys {
  const current = { id: idOf(config.MASTER_KEY), bytes: config.MASTER_KEY }
  const others = (config.MASTER_KEYS_OTHER ?? []).map((bytes) => ({ id: idOf(bytes), bytes }))
  return { current, all: new Map([...others, current].map((key) => [key.id, key])) }
}

/** Eight hexadecimal characters. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('wagate key id').update(key).digest('hex').slice(0, 8)
}
