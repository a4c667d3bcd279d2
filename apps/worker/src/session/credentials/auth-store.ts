import { type AuthValue, pollSecretType, textSecretType } from '@wagate/db/queries/credentials/device-auth'
import type { SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import {
  type AuthenticationCreds,
  initAuthCreds,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from 'baileys'
import type { Scope } from '../../caches/scoped-cache.ts'
import { boundSession } from './bounded-session.ts'
import { keepAgreeingMappings } from './lid-mappings.ts'
import { keepNewestTokens, noteTokenHolders, withoutTokenIndex } from './privacy-tokens.ts'
import type { SessionRecord } from './session-record.ts'
import { authContext, openAuthValue, type SealedFrame, sealAuthValue, type Vault } from './vault.ts'

type KeyType = keyof SignalDataTypeMap
export type AuthRows = { type: string; id: string; value: Buffer | null }[]

type Values = Map<string, unknown>

export type AuthStore = {
  creds: AuthenticationCreds
  keys: SignalKeyStore
  /**
   * Our own values beside Baileys' keys, stored and cached like them. Missing ones are left out. As with Baileys' keys, there
   * is no promise if all of them are cached.
   */
  readOwn(type: string, ids: string[]): Values | Promise<Values>
  /** Null deletes a value. */
  writeOwn(type: string, values: Map<string, unknown>): Promise<void>
  /** Stores the complete credentials. Calls take effect in their order. */
  saveCreds(): Promise<void>
  /** Returns the credentials as a row, for a statement that also writes other things. */
  credsRow(): AuthRows[number]
  /** Call when the session has ended. Frees the memory of the store. */
  release(): void
}

/** The memory of a cache entry: a fixed part, its key twice, and a multiple of the size of its encrypted value. */
const entryBytes = 400
const valueShare = 2
/** Of a session in parts, whose values are longer in memory, and whose frame is kept as well. */
const partsShare = 6

function memoryOf(key: string, sealed: Buffer | null, frame: SealedFrame | undefined): number {
  return entryBytes + 2 * key.length + (frame ? partsShare : valueShare) * (sealed?.length ?? 0)
}

/**
 * Not worth caching: 812 pre-keys are written together, read once for their upload, and then each at most once. Most secrets
 * are never read.
 */
const uncachedTypes = new Set(['pre-key', pollSecretType, textSecretType])

const credsType = 'creds'
const credsId = '-'

/** Returns the stored credentials of a device, including those of a pairing that was never completed. */
export async function findCreds({
  read,
  vault,
}: Pick<AuthSource, 'read' | 'vault'>): Promise<AuthenticationCreds | undefined> {
  const [row] = await read(credsType, [credsId])
  return row && (openAuthValue(vault, credsType, credsId, row.value).value as AuthenticationCreds)
}

/** `frame`: of a session that is stored in parts. */
export type CachedAuth = { value: unknown; frame?: SealedFrame | undefined }

type AuthSource = {
  read(type: string, ids: string[]): Promise<AuthValue[]>
  vault: Vault
  /** How sessions are written. Both formats are read. */
  format: SignalFormat
  /** Used by this store only, and empty at first: another owner may have written in the meantime. */
  cache: Scope<CachedAuth>
  /** Resolves when the rows are stored. */
  write(rows: AuthRows): Promise<void>
}

/**
 * The auth state of one device for Baileys: encrypted, behind a write-through cache. The cache stays valid because the
 * owner of the shard is the only writer. Missing values are cached too.
 */
export function makeAuthStore(source: AuthSource, creds: AuthenticationCreds = initAuthCreds()): AuthStore {
  const { vault, cache, write } = source
  let isReleased = false

  /** Each promise counts: a message needs nine reads, which the cache answers. */
  function read(type: string, ids: string[]): Values | Promise<Values> {
    const found: Values = new Map()
    const missing: string[] = []
    for (const id of ids) {
      const cached = cache.get(authContext(type, id))?.value
      if (!cached) missing.push(id)
      else if (cached.value != null) found.set(id, cached.value)
    }
    return missing.length === 0 ? found : readMissing(type, missing, found)
  }

  async function readMissing(type: string, missing: string[], found: Values): Promise<Values> {
    const stored = await source.read(type, missing)
    const rows = new Map(stored.map((row) => [row.id, row.value]))
    for (const id of missing) {
      // What was written during the read is newer than what it found.
      const written = cache.get(authContext(type, id))?.value
      const value = written ? written.value : open(type, id, rows.get(id) ?? null)
      if (value != null) found.set(id, value)
    }
    return found
  }

  function open(type: string, id: string, sealed: Buffer | null): unknown {
    const opened = sealed ? openAuthValue(vault, type, id, sealed) : { value: null }
    if (!uncachedTypes.has(type)) keep(type, id, opened, sealed)
    return opened.value
  }

  function keep(type: string, id: string, { value, frame }: CachedAuth, sealed: Buffer | null): void {
    const key = authContext(type, id)
    cache.set(key, { value: withOwnBytes(value), frame }, memoryOf(key, sealed, frame))
  }

  async function store(given: Entry[]): Promise<void> {
    // Baileys repeats an upload of pre-keys after the connection has ended. The next session may have given the same ids
    // to other keys by then.
    const entries = isReleased
      ? given.filter(({ type, value }) => type !== 'pre-key' || value == null)
      : given
    if (entries.length === 0) return
    const sealed = entries.map((entry) => {
      const known = cache.get(authContext(entry.type, entry.id))?.value.frame
      return entry.value == null ? undefined : sealAuthValue(source, entry, known)
    })
    try {
      await write(entries.map(({ type, id }, index) => ({ type, id, value: sealed[index]?.sealed ?? null })))
    } catch (error) {
      for (const { type, id } of entries) cache.delete(authContext(type, id))
      throw error
    }
    for (const [index, { type, id, value }] of entries.entries()) {
      if (uncachedTypes.has(type)) cache.delete(authContext(type, id))
      else keep(type, id, { value, frame: sealed[index]?.frame }, sealed[index]?.sealed ?? null)
    }
  }

  function get<Type extends KeyType>(type: Type, ids: string[]) {
    const found = read(type, ids)
    return found instanceof Promise ? found.then(handOutAll<Type>) : handOutAll<Type>(found)
  }

  const stored = { get, set: (data: SignalDataSet) => store(entriesOf(data)) }
  const keys = keepNewestTokens(withoutTokenIndex(keepAgreeingMappings(stored)))
  const own: Pick<AuthStore, 'readOwn' | 'writeOwn'> = {
    readOwn: read,
    writeOwn: (type, values) => store([...values].map(([id, value]) => ({ type, id, value }))),
  }
  const credsRow = () => {
    const entry = { type: credsType, id: credsId, value: creds }
    return { ...entry, value: sealAuthValue(source, entry).sealed }
  }
  let saving: Promise<void> = Promise.resolve()

  return {
    creds,
    keys: noteTokenHolders(keys, own),
    ...own,
    credsRow,
    release() {
      isReleased = true
      cache.close()
    },
    saveCreds() {
      saving = saving.catch(() => undefined).then(() => write([credsRow()]))
      return saving
    },
  }
}

type Entry = { type: string; id: string; value: unknown }

function entriesOf(data: SignalDataSet): Entry[] {
  return Object.entries(data).flatMap(([type, values]) =>
    Object.entries(values ?? {}).map(([id, value]) => ({
      type,
      id,
      value: type === 'session' && value ? boundSession(value as SessionRecord) : value,
    })),
  )
}

function handOutAll<Type extends KeyType>(values: Values): { [id: string]: SignalDataTypeMap[Type] } {
  // With a prototype, V8 would create a hidden class for the ids of each contact, which takes 3 µs.
  const found: { [id: string]: SignalDataTypeMap[Type] } = Object.create(null)
  for (const [id, value] of values) found[id] = handOut<Type>(value)
  return found
}

/** A copy, because Baileys appends to the lists it is given. The cast is safe: values are stored under their types. */
function handOut<Type extends KeyType>(value: unknown): SignalDataTypeMap[Type] {
  return (Array.isArray(value) ? [...value] : value) as SignalDataTypeMap[Type]
}

/** A copy, because a token of a few bytes is a view of the whole stanza, or of Node's pool of 8 kB. */
function withOwnBytes(value: unknown): unknown {
  if (!isPlainObject(value)) return ownBytes(value)
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, ownBytes(part)]))
}

function ownBytes(value: unknown): unknown {
  return value instanceof Uint8Array ? Uint8Array.prototype.slice.call(value) : value
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
